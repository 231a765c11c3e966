# client/completion/avroctl.bash - completion of avroctl for bash. The words are asked of avroctl itself, and types of the server.

_avroctl_types() {
    avroctl --connect-timeout 500ms --timeout 1s --retries 0 types 2>/dev/null | awk 'NR > 1 { print $1 }'
}

# The words before the cursor that are no options, nor the values of options, in the array `words`.
_avroctl_words() {
    local i word options skip=0
    options=" $(avroctl --words 2>/dev/null | sed -n 's/^\(--.*\)=$/\1/p' | tr '\n' ' ')"
    words=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((skip)); then
            skip=0
        elif [[ $word == --* ]]; then
            [[ $(avroctl --words "${words[@]}" 2>/dev/null) == *"$word="* || $options == *" $word "* ]] && skip=1
        elif [[ $word != -* && $word != = ]]; then
            words+=("$word")
        fi
    done
}

_avroctl() {
    local cur=${COMP_WORDS[COMP_CWORD]} words named=1
    _avroctl_words
    COMPREPLY=()
    if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(avroctl --words "${words[@]}" 2>/dev/null | sed -n 's/^\(--[^=]*\)=*$/\1/p')" -- "$cur")
        return
    fi
    if ((${#words[@]} == 0)); then
        mapfile -t COMPREPLY < <(compgen -W "$(avroctl --words 2>/dev/null | sed -n '/^-/d; s/ .*//p; t; p' | sort -u)" -- "$cur")
        return
    fi
    if [[ ${words[0]} == schema || ${words[0]} == path ]]; then
        named=2
        if ((${#words[@]} == 1)); then
            mapfile -t COMPREPLY < <(compgen -W "$(avroctl --words 2>/dev/null | sed -n "s/^${words[0]} //p")" -- "$cur")
            return
        fi
    fi
    case ${words[0]} in
    bench) mapfile -t COMPREPLY < <(compgen -W "ping get put sizes" -- "$cur") ;;
    ping | types | stats) ;;
    txn | backup | restore | fsck) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    *)
        if ((${#words[@]} == named)); then
            mapfile -t COMPREPLY < <(compgen -W "$(_avroctl_types)" -- "$cur")
        elif [[ ${words[0]} == schema ]] || ((${#words[@]} == named + (named == 2 ? 3 : 2))); then
            mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        fi
        ;;
    esac
}

complete -o filenames -F _avroctl avroctl
