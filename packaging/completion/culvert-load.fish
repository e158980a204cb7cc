# fish completion of culvert-load

function __culvert_load_options --description 'The options that the program names for a command'
    set -l words (commandline -opc)
    $words[1] $words[2] --help 2>/dev/null | string match -rg '^ +(--[a-z-]+)'
end

function __culvert_load_before --description 'Whether the word before the cursor is one of these'
    contains -- (commandline -opc)[-1] $argv
end

function __culvert_load_option --description 'Whether the word under the cursor begins as an option'
    string match -q -- '-*' (commandline -ct)
end

set -l commands serve bulk latency churn idle report
complete -c culvert-load -f
complete -c culvert-load -n "not __fish_seen_subcommand_from $commands" -a serve -d 'a backend'
complete -c culvert-load -n "not __fish_seen_subcommand_from $commands" -a bulk -d 'streams as fast as they go'
complete -c culvert-load -n "not __fish_seen_subcommand_from $commands" -a latency -d 'requests and answers'
complete -c culvert-load -n "not __fish_seen_subcommand_from $commands" -a churn -d 'connections of one request each'
complete -c culvert-load -n "not __fish_seen_subcommand_from $commands" -a idle -d 'connections that are held open'
complete -c culvert-load -n "not __fish_seen_subcommand_from $commands" -a report -d 'lay runs side by side'
complete -c culvert-load -n "__culvert_load_before serve" -a 'echo sink source'
complete -c culvert-load -n "__culvert_load_before --direction" -a 'up down both'
complete -c culvert-load -n "__culvert_load_before --psk --identity --report --output" -F
complete -c culvert-load -n "__fish_seen_subcommand_from report" -F
complete -c culvert-load -n "__fish_seen_subcommand_from $commands; and __culvert_load_option" \
    -a '(__culvert_load_options)'
