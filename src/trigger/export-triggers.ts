import type { Diagnostic } from '../core/diagnostic.ts'
import { sha256 } from '../core/json.ts'
import { splitFrontmatter } from '../skill/frontmatter.ts'
import { maxTargetBytes } from './inject.ts'
import type { TriggerSkill } from './match.ts'
import { isPortable } from './rewrite-pattern.ts'
import { readPortableTriggers } from './read-triggers.ts'

/** Lines of ours inside a file of somebody else's: everything between the markers belongs to us. */
interface BlockMarkers {
  begin: string
  end: string
}

const routingMarkers: BlockMarkers = {
  begin: '<!-- skillrail:triggers -->',
  end: '<!-- /skillrail:triggers -->',
}

export const scriptPath = 'scripts/inject-context'

/** Writes the instruction to run the script, and the table for a model without a shell, into the body. */
export function exportTriggers(skill: TriggerSkill & { text: string }): {
  text: string
  diagnostics: readonly Diagnostic[]
} {
  const { text, path } = skill
  const split = splitFrontmatter(text)
  if (!split.found) return { text, diagnostics: [] }
  const written = writeBlock(split.body, routingBlock(skill), routingMarkers)
  const diagnostics = notInScript(skill)
  if ('text' in written) return { text: text.slice(0, split.bodyStart) + written.text, diagnostics }
  const message = `The body is left as it is: ${written.problem}.`
  const hint = 'Remove the other marker, or both with what is between them.'
  const damaged = { code: 'trigger-markers', severity: 'error' as const, message, path, hint }
  return { text, diagnostics: [damaged, ...diagnostics] }
}

/** The `SKILL.md` without what {@link exportTriggers} wrote, and the blank line before it. */
export function withoutExport(text: string): string {
  const split = splitFrontmatter(text)
  const place = split.found ? findBlock(split.body, routingMarkers) : undefined
  if (!split.found || place?.start === undefined) return text
  const before = split.body.slice(0, place.start).replace(/(\n)\r?\n$/, '$1')
  return text.slice(0, split.bodyStart) + before + split.body.slice(place.end)
}

function routingBlock({ triggers }: TriggerSkill): string {
  const onPrompts = triggers.filter(({ when }) => when === undefined)
  const rows = onPrompts.map(({ match, inject }) => `| ${cell(match)} | ${cell(inject)} |\n`)
  return `## References for this request

Where the context already has \`<!-- injected: FILE -->\` with a file's text, that file is loaded: do not
read it again. Otherwise run this in the skill's directory before anything else, with the user's whole
prompt, and follow what it prints:

\`\`\`sh
sh ${scriptPath} <<'PROMPT'
the user's prompt
PROMPT
\`\`\`

Without a shell, read the files of every row whose pattern matches a line of the prompt:

| pattern | file |
|---|---|
${rows.join('')}`
}

/** Code in a table: a bar is escaped, and the fence is longer than any run of backticks inside. */
function cell(text: string): string {
  const longest = Math.max(0, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  const pad = longest > 0 ? ' ' : ''
  return `${fence}${pad}${text.replaceAll('|', '\\|')}${pad}${fence}`
}

/** Triggers that the script does not see, or that `grep -E` reads differently. */
function notInScript({ text, path, triggers }: TriggerSkill & { text: string }): Diagnostic[] {
  const warning = (code: string, line: number, message: string, hint: string): Diagnostic => {
    return { code, severity: 'warning', message, path, line, hint }
  }
  const reading = readPortableTriggers(text)
  if (!reading.portable) {
    const message = `The script does not see the triggers from line ${reading.line} on: ${reading.reason}.`
    const hint = 'Write every trigger as two lines, `- match: "…"` and below it `inject: …`.'
    return [warning('trigger-format', reading.line, message, hint)]
  }
  const hint = '`skillrail triggers check` says how, and --fix rewrites it where that is possible.'
  return triggers
    .filter(({ match, when }) => when === undefined && !isPortable(match))
    .map(({ match, line }) => {
      const message = `The script may read the pattern \`${match}\` differently.`
      return warning('trigger-pattern-not-portable', line, message, hint)
    })
}

/** Finds the block, including its markers and the line end after them. */
function findBlock(text: string, { begin, end }: BlockMarkers) {
  const first = lineOffset(text, begin, 0)
  const last = lineOffset(text, end, Math.max(first, 0))
  if (first < 0 && last < 0) return undefined
  if (first < 0 || last < 0) return { problem: `the marker ${first < 0 ? begin : end} is missing` }
  if (lineOffset(text, begin, first + 1) >= 0) {
    return { problem: `the marker ${begin} is there twice` }
  }
  const lineEnd = text.indexOf('\n', last)
  return { start: first, end: lineEnd < 0 ? text.length : lineEnd + 1 }
}

/** Puts lines between markers into a text: in the place of the block, else at the end. */
export function writeBlock(
  text: string,
  content: string,
  markers: BlockMarkers,
): { text: string } | { problem: string } {
  const place = findBlock(text, markers)
  if (place?.problem !== undefined) return { problem: place.problem }
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  const lines = `${markers.begin}\n${content}${markers.end}\n`.replaceAll('\n', newline)
  if (place !== undefined)
    return { text: text.slice(0, place.start) + lines + text.slice(place.end) }
  if (text === '') return { text: lines }
  return { text: `${text}${text.endsWith('\n') ? '' : newline}${newline}${lines}` }
}

function lineOffset(text: string, line: string, from: number): number {
  for (let at = text.indexOf(line, from); at >= 0; at = text.indexOf(line, at + 1)) {
    const starts = at === 0 || text[at - 1] === '\n'
    if (starts && /^(?:\r?\n|$)/.test(text.slice(at + line.length, at + line.length + 2))) return at
  }
  return -1
}

/** The second line of a script of ours: `# skillrail inject-context DIGEST-OF-THE-REST`. */
const signature = /^# skillrail inject-context (sha256:[0-9a-f]{64})\n/

/**
 * `scripts/inject-context`: the same answers as `skillrail inject` for triggers in the portable
 * format, with nothing but a POSIX shell, awk, grep, tr, wc and readlink. The same for every skill,
 * because it reads the `SKILL.md` beside it.
 */
export function scriptText(): string {
  return `#!/bin/sh\n# skillrail inject-context ${sha256(script)}\n${script}`
}

/** Whose script this is: one of ours as we wrote it, or one that somebody wrote or changed. */
export function scriptOrigin(text: string): 'ours' | 'foreign' {
  const rest = text.replace(/^#![^\n]*\n/, '')
  const digest = signature.exec(rest)?.[1]
  return digest === sha256(rest.replace(signature, '')) ? 'ours' : 'foreign'
}

const script = String.raw`# Prints the references whose trigger matches the prompt, as skillrail inject does.
# Written by: skillrail triggers export. Changes here are lost; the triggers are in SKILL.md.
#
# Usage: inject-context PROMPT...    or the prompt on standard input
set -u
skill=$(cd -- "$(dirname -- "$0")/.." && pwd -P) || exit 1
manifest=$skill/SKILL.md
[ -f "$manifest" ] || manifest=$skill/skill.md
if [ ! -r "$manifest" ]; then
  printf 'inject-context: there is no SKILL.md in %s\n' "$skill" >&2
  exit 1
fi
newline='
'
# The x keeps line ends at the end of the prompt: a prompt is not trimmed.
if [ "$#" -gt 0 ]; then prompt=$*; else prompt=$(cat; printf x); prompt=${'$'}{prompt%x}; fi

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
    /^ *- (examples|paths|command):/ { other = 1 }
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
  printf 'inject-context: %s: %s\n' "$1" "$2" >&2
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
  if [ "$(wc -c <"$real")" -gt ${maxTargetBytes} ]; then refuse "$1" 'is larger than 1 MiB'; return 1; fi
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

[ -n "$prompt" ] || exit 0
prompt=$(lines; printf x)
prompt=${'$'}{prompt%x}
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
`
