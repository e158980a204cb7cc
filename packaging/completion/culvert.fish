# fish completion of culvert

function __culvert_at --description 'Whether the word under the cursor is the one of this number'
    test (count (commandline -opc)) -eq $argv[1]
end

function __culvert_sections --description 'The client sections of the file on the command line'
    set -l words (commandline -opc)
    set -l file (string replace -r '^~/' "$HOME/" -- $words[3])
    test -r "$file"; and string match -rg '^\s*\[client\.([^]\s]+)\]' <$file
end

complete -c culvert -f
complete -c culvert -n '__culvert_at 1' -a run -d 'the daemon, in the foreground'
complete -c culvert -n '__culvert_at 1' -a reload -d 'have the running daemon read its file again'
complete -c culvert -n '__culvert_at 1' -a check -d 'name every mistake of a configuration file'
complete -c culvert -n '__culvert_at 1' -a keygen -d 'make a key'
complete -c culvert -n '__culvert_at 1' -a pubkey -d 'print the public key of a key file'
complete -c culvert -n '__culvert_at 1' -a probe -d 'try a client section'
complete -c culvert -n '__culvert_at 1' -a status -d 'how a running daemon is'
complete -c culvert -n '__culvert_at 1' -a top -d 'how a running daemon is, every second'
complete -c culvert -n '__culvert_at 1' -a version -d 'print the version'
complete -c culvert -n '__culvert_at 1' -a help -d 'print the commands, or every key'

complete -c culvert -n '__culvert_at 2; and __fish_seen_subcommand_from run reload check pubkey probe status top' -F
complete -c culvert -n '__culvert_at 3; and __fish_seen_subcommand_from status' -F
complete -c culvert -n '__fish_seen_subcommand_from status' -l json -d 'what the daemon says, for programs'
complete -c culvert -n '__culvert_at 2; and __fish_seen_subcommand_from keygen' -a psk -d 'a secret of both ends'
complete -c culvert -n '__culvert_at 2; and __fish_seen_subcommand_from keygen' -a static -d 'a key pair'
complete -c culvert -n '__culvert_at 2; and __fish_seen_subcommand_from help' -a config -d 'every key'
complete -c culvert -n '__culvert_at 2; and __fish_seen_subcommand_from run' -a --replace -d 'take the place of the running daemon'
complete -c culvert -n '__culvert_at 3; and string match -q -- --replace (commandline -opc)' -F
complete -c culvert -n '__culvert_at 3; and __fish_seen_subcommand_from keygen' -F
complete -c culvert -n '__culvert_at 3; and __fish_seen_subcommand_from probe' -a '(__culvert_sections)'
