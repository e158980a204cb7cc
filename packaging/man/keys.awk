# Fills a manual page: reads what `culvert help config` prints, then the page, and writes the page
# with the keys of [daemon], [server.NAME] and [client.NAME] in the place of @daemon@, @server@ and
# @client@.

# In mdoc a line that begins with a dot or a quote would be a request, and a backslash an escape.
function plain(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    gsub(/"/, "\\(dq", text)
    return text ~ /^[.']/ ? "\\&" text : text
}

FNR == NR && /^\[/ {  # a section: "[server.NAME]  accepts tunnels"
    section = $1
    gsub(/^\[|\.NAME|\]$/, "", section)
    next
}
FNR == NR && /^  [a-z]/ {  # a key: "  threads = N, 1-256 (=1)"
    key = $1
    told = ""
    value = $0
    sub(/^ *[^ ]+ = /, "", value)
    keys[section] = keys[section] ".It Cm " plain(key) " No \"= " plain(value) "\"\n"
    next
}
FNR == NR && /^      / {  # what it is for; further lines about its parts
    sub(/^ +/, "")
    keys[section] = keys[section] (told == key ? ".br\n" : "") plain($0) "\n"
    told = key
    next
}
FNR == NR && NF { print "keys.awk: what is this? " $0 > "/dev/stderr"; failed = 1; exit }
FNR == NR { next }

/^@[a-z]+@$/ {
    name = substr($0, 2, length($0) - 2)
    if (!(name in keys)) { print "keys.awk: no section " name > "/dev/stderr"; failed = 1; exit }
    printf "%s", keys[name]
    used[name] = 1
    next
}
{ print }

END {
    for (name in keys) if (!(name in used)) { print "keys.awk: " name " is left over" > "/dev/stderr"; failed = 1 }
    exit failed
}
