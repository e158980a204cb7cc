# bash completion of culvert-load                                     -*- shell-script -*-

# The options that the program itself names for a command.
_culvert_load_options() {
    "$1" "$2" --help 2>/dev/null | sed -nE 's/^ +(--[a-z-]+).*/\1/p'
}

_culvert_load_files() {
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

_culvert_load() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words=""
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        words="serve bulk latency churn idle report help"
    elif [[ $before =~ ^--(psk|identity|report|output)$ ]]; then
        _culvert_load_files "$word"
        return
    elif [[ $before == --direction ]]; then
        words="up down both"
    elif [[ $word == -* ]]; then
        words=$(_culvert_load_options "${COMP_WORDS[0]}" "${COMP_WORDS[1]}")
    elif [[ ${COMP_WORDS[1]} == serve ]] && ((COMP_CWORD == 2)); then
        words="echo sink source"
    elif [[ ${COMP_WORDS[1]} == report ]]; then
        _culvert_load_files "$word"
        return
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -F _culvert_load culvert-load
