# Prints the references whose trigger matches the prompt, as skillrail triggers inject does.
# Written by: skillrail triggers export. Changes here are lost; the triggers are in SKILL.md.
#
# Usage: inject-context PROMPT...    or the prompt on standard input
#
# Under the name validate-triggers it tests each pattern on the body of the skill, and exits with 1 if
# one matches: it would fire on every call of the skill. Usage: validate-triggers [DIRECTORY]
set -u
name=${0##*/}
directory=$(dirname -- "$0")/..
if [ "$name" = validate-triggers ] && [ "$#" -gt 0 ]; then directory=$1; fi
skill=$(cd -- "$directory" && pwd -P) || exit 1
manifest=$skill/SKILL.md
[ -f "$manifest" ] || manifest=$skill/skill.md
if [ ! -r "$manifest" ]; then
  printf '%s: there is no SKILL.md in %s\n' "$name" "$skill" >&2
  exit 1
fi
newline='
'
# The x keeps line ends at the end of the prompt: a prompt is not trimmed.
if [ "$name" = validate-triggers ]; then prompt=; elif [ "$#" -gt 0 ]; then prompt=$*; else prompt=$(cat; printf x); prompt=${prompt%x}; fi

# CRLF counts as a line end. A CR at the very end of the prompt is not CRLF.
lines() {
  printf '%s\n' "$prompt" |
    LC_ALL=C awk 'NR > 1 { sub(/\r$/, "", last); print last } { last = $0 } END { if (NR) print last }'
}

# Two lines a trigger, pattern and file; a line "!" and its number for what is not portable.
triggers() {
  LC_ALL=C awk '
    function value(text, inner) {
      sub(/ *$/, "", text)
      if (text ~ /^"/) {
        if (text !~ /^"([^"\\]|\\["\\])+"$/) return ""
        inner = substr(text, 2, length(text) - 2)
        gsub(/\\\\/, "\001", inner)
        gsub(/\\"/, "\"", inner)
        gsub(/\001/, "\\", inner)
        return inner
      }
      if (text ~ /^\047/) {
        if (text !~ /^\047([^\047]|\047\047)+\047$/) return ""
        inner = substr(text, 2, length(text) - 2)
        gsub(/\047\047/, "\047", inner)
        return inner
      }
      if (text ~ /^[-?:,{}#&*!|>%@=<~]/ || text ~ /^[][]/ || text ~ /^\140/) return ""
      if (text ~ /: / || text ~ /:$/ || text ~ / #/) return ""
      return text
    }
    function refuse() { out = out "!\n" NR "\n"; done = 1; exit }
    { sub(/\r$/, "") }
    NR == 1 { sub(/^\357\273\277/, ""); if ($0 ~ /^---[ \t]*$/) next; exit }
    /^---[ \t]*$/ { if (wanted) refuse(); done = 1; exit }
    /^ *$/ || /^ *#/ { next }
    !inside {
      if ($0 ~ /^triggers: *$/) { inside = 1; next }
      if ($0 ~ /^(["\047]triggers["\047]|triggers) *:/) refuse()
      if ($0 ~ /^ +["\047]?triggers["\047]? *:/) refuse()
      next
    }
    wanted {
      prefix = substr(blanks, 1, indent + 2) "inject: "
      if (substr($0, 1, length(prefix)) != prefix) refuse()
      text = substr($0, length(prefix) + 1)
      sub(/^ */, "", text)
      file = value(text)
      if (file == "") refuse()
      out = out pattern "\n" file "\n"
      wanted = 0
      next
    }
    /^[^ \t-]/ { inside = 0; next }
    /^ *- (examples|paths|command|tool):/ { other = 1 }
    /^ *- match:/ { other = 0 }
    other { next }
    {
      if ($0 !~ /^ *- match: +[^ ]/) refuse()
      match($0, /^ */)
      if (!known) { indent = RLENGTH; known = 1; blanks = $0; gsub(/./, " ", blanks); blanks = blanks "  " }
      if (RLENGTH != indent) refuse()
      text = $0
      sub(/^ *- match: +/, "", text)
      pattern = value(text)
      if (pattern == "") refuse()
      wanted = 1
    }
    # Frontmatter that is not closed is none.
    END { if (done) printf "%s", out }
  ' "$manifest"
}

refuse() {
  printf '%s: %s: %s\n' "$name" "$1" "$2" >&2
}

# The real path of a file inside the skill, or nothing and the reason.
target() {
  case $1 in
    /* | [A-Za-z]:* | *\\*) refuse "$1" 'leads out of the skill'; return 1 ;;
  esac
  case /$1/ in
    */../*) climbs=yes ;;
    *) climbs=no ;;
  esac
  if [ ! -f "$skill/$1" ]; then refuse "$1" 'is not a file of the skill'; return 1; fi
  real=$(cd -P -- "$(dirname -- "$skill/$1")" && pwd -P)/$(basename -- "$1")
  if [ -L "$real" ]; then real=$(readlink -f -- "$real" 2>/dev/null) || real=; fi
  case $real in
    "$skill"/*) ;;
    *) refuse "$1" 'leads out of the skill'; return 1 ;;
  esac
  if [ "$climbs" = yes ]; then
    case $(climb "$1") in
      out) refuse "$1" 'leads out of the skill'; return 1 ;;
    esac
  fi
  if [ "$(wc -c <"$real")" -gt 1048576 ]; then refuse "$1" 'is larger than 1 MiB'; return 1; fi
  if [ "$(LC_ALL=C tr -dc '\000' <"$real" | wc -c)" -gt 0 ]; then
    refuse "$1" 'is binary, not text'
    return 1
  fi
  printf '%s\n' "$real"
}

# Whether a path leaves the skill on its way, even if it comes back.
climb() {
  printf '%s\n' "$1" | awk -F / '{
    depth = 0
    for (i = 1; i <= NF; i++) {
      if ($i == "..") { if (--depth < 0) { print "out"; exit } }
      else if ($i != "" && $i != ".") depth++
    }
  }'
}

# The instructions below the frontmatter.
body() {
  LC_ALL=C awk '
    { sub(/\r$/, "") }
    NR == 1 { sub(/^\357\273\277/, ""); if ($0 ~ /^---[ \t]*$/) { inside = 1; next } }
    inside && /^---[ \t]*$/ { inside = 0; next }
    !inside { print }
  ' "$manifest"
}

validate() {
  triggers | {
    checked=0
    risks=0
    broken=0
    while IFS= read -r pattern && IFS= read -r file; do
      if [ "$pattern" = '!' ]; then
        refuse "$manifest" "line $file: the triggers from here on are not in the portable format"
        broken=1
        break
      fi
      checked=$((checked + 1))
      first=$(body | LC_ALL=C.UTF-8 grep -n -E -e "$pattern" 2>/dev/null | head -n 1)
      if [ -z "$first" ]; then
        printf 'OK %s -> %s\n' "$pattern" "$file"
      else
        risks=$((risks + 1))
        printf 'FAIL %s -> %s\n' "$pattern" "$file"
        printf 'Pattern matches the skill body - will fire on every invocation\n'
        printf 'First match: %s\n' "$first"
      fi
    done
    plural=s
    [ "$checked" -ne 1 ] || plural=
    printf '%s trigger%s checked, %s false-positive risk(s)\n' "$checked" "$plural" "$risks"
    [ "$risks" -eq 0 ] && [ "$broken" -eq 0 ]
  }
}

if [ "$name" = validate-triggers ]; then
  validate
  exit
fi
[ -n "$prompt" ] || exit 0
prompt=$(lines; printf x)
prompt=${prompt%x}
done=$newline
triggers | while IFS= read -r pattern && IFS= read -r file; do
  if [ "$pattern" = '!' ]; then
    refuse "$manifest" "line $file: the triggers from here on are not in the portable format"
    break
  fi
  printf '%s' "$prompt" 2>/dev/null | LC_ALL=C.UTF-8 grep -E -q -e "$pattern" 2>/dev/null
  case $? in
    0) ;;
    1) continue ;;
    *) refuse "$pattern" 'is not a pattern that grep -E accepts'; continue ;;
  esac
  real=$(target "$file") || continue
  case $done in
    *"$newline$real$newline"*) continue ;;
  esac
  done=$done$real$newline
  text=$(cat -- "$real")
  printf '<!-- injected: %s -->\n%s\n\n' "$file" "$text"
done
