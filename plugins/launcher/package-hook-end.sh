  problem="it finds no Node, which it needs in version 20 or newer"
elif [ -f "$entry" ]; then
  problem="it needs Node 20 or newer, and finds $4"
else
  problem="the package is incomplete; install it again"
fi
# Says so once in a session, with its first prompt. It can use nothing but the tools of every system.
input=$(cat)
case $1 in
  copilot) case $2 in '' | -) ;; *) exit 0 ;; esac ;;
  *)
    case $input in *UserPromptSubmit* | *BeforeAgent*) ;; *) exit 0 ;; esac
    case $2 in '' | - | 1/*) ;; *) exit 0 ;; esac
    ;;
esac
session=$(
  printf %s "$input" | sed -n 's/.*"session_\{0,1\}[Ii]d" *: *"\([A-Za-z0-9_-]*\)".*/\1/p' 2>/dev/null
)
session=${session%%[!A-Za-z0-9_-]*}
said=$HOME/.cache/skillrail/no-hook
if [ -n "$HOME" ] && [ -n "$session" ]; then
  if [ -e "$said/$session" ]; then exit 0; fi
  mkdir -p "$said" && : >"$said/$session"
fi 2>/dev/null
text="Skillrail does not work here: $problem. No reference was added and no rail guards this session."
case $1 in
  @TELLERS@) printf '{"systemMessage":"%s"}' "$text" ;;
  *) printf '{"additionalContext":"%s Tell the user."}' "$text" ;;
esac
exit 0
