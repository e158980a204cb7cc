# bash completion of culvert                                          -*- shell-script -*-

# The names of the client sections of a configuration file.
_culvert_sections() {
    sed -nE 's/^[[:space:]]*\[client\.([^][:space:]]+)\].*/\1/p' -- "$1" 2>/dev/null
}

_culvert_files() {
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

_culvert() {
    local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words=""
    COMPREPLY=()
    case $COMP_CWORD:$command in
        1:*) words="run reload check keygen pubkey probe status top version help" ;;
        2:run) words="--replace"
            [[ $word == -* ]] || { _culvert_files "$word"; return; } ;;
        3:run) _culvert_files "$word"; return ;;
        2:reload | 2:check | 2:pubkey | 2:probe | 2:top) _culvert_files "$word"; return ;;
        2:status) words="--json"
            [[ $word == -* ]] || { _culvert_files "$word"; return; } ;;
        3:status) _culvert_files "$word"; return ;;
        2:keygen) words="psk static" ;;
        3:keygen) _culvert_files "$word"; return ;;
        2:help) words="config" ;;
        3:probe)
            local file=${COMP_WORDS[2]}
            words=$(_culvert_sections "${file/#\~\//$HOME/}") ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -F _culvert culvert
