# server/completion/avrod.bash - completion of avrod for bash. The options are asked of avrod itself.

# The argument of an option as --help names it: FILE, DIR, ...
_avrod_argument() {
    avrod --help 2>/dev/null | sed -n "s/^  $1 \([^ ]*\).*/\1/p"
}

_avrod() {
    local cur=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}
    # bash takes --name=value apart at the sign.
    [[ $cur == = ]] && cur=
    [[ $option == = ]] && option=${COMP_WORDS[COMP_CWORD - 2]}
    COMPREPLY=()
    if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(avrod --help 2>/dev/null | sed -n 's/^  \(--[a-z-]*\).*/\1/p')" -- "$cur")
        return
    fi
    case $option in
    --durability) mapfile -t COMPREPLY < <(compgen -W "sync async none" -- "$cur") ;;
    --engine) mapfile -t COMPREPLY < <(compgen -W "lmdb memory" -- "$cur") ;;
    --access-log-format) mapfile -t COMPREPLY < <(compgen -W "json combined" -- "$cur") ;;
    --compat) mapfile -t COMPREPLY < <(compgen -W "astore" -- "$cur") ;;
    --*)
        case $(_avrod_argument "$option") in
        FILE) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
        DIR) mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
        esac
        ;;
    esac
}

complete -o filenames -F _avrod avrod
