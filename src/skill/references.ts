export interface SkillReference {
  /** The path as written, without anchor and title. */
  target: string
  line: number
  /** `link`: a relative Markdown link; `path`: a bare path below a conventional directory. */
  kind: 'link' | 'path'
}

/** A longer line is data, not prose; scanning it could take long. */
const longestLine = 5000

/**
 * Finds the files that the instructions refer to: relative Markdown links outside code, and bare
 * paths below `scripts/`, `references/` or `assets/`, also in code, because code calls scripts. A
 * target is reported once, where it occurs first.
 *
 * A path that is only an illustration is left out: one with a placeholder (`references/<topic>.md`,
 * `assets/*.png`, `scripts/your-script.py`), one without a file extension outside `scripts/`, one
 * below another directory (`my-skill/scripts/a.py`), one drawn in a directory tree, and every bare
 * path in a fenced block that shows Markdown or YAML text.
 */
export function findReferences(body: string): SkillReference[] {
  if (!mayRefer(body)) return []
  const references = new Map<string, SkillReference>()
  const add = (target: string, line: number, kind: SkillReference['kind']) => {
    if (!references.has(target)) references.set(target, { target, line, kind })
  }
  let fence: Fence | undefined
  for (const [index, line] of body.split('\n').entries()) {
    if (line.length > longestLine) continue
    const fenceMark = line.includes('```') || line.includes('~~~') ? fenceOf(line) : undefined
    const isEnd = fenceMark?.language === '' && fenceMark.marker.startsWith(fence?.marker ?? '')
    if (fenceMark && (!fence || isEnd)) {
      fence = fence ? undefined : fenceMark
      continue
    }
    if (!mayRefer(line)) continue
    if (!fence) {
      for (const target of linkTargets(line)) add(target, index + 1, 'link')
    }
    if (!fence || shellLanguages.has(fence.language)) {
      for (const target of barePaths(line.replace(linkPattern, ' '))) add(target, index + 1, 'path')
    }
  }
  return [...references.values()]
}

/** A cheap check, because nearly no line contains a reference. */
function mayRefer(text: string): boolean {
  return ['](', 'scripts/', 'references/', 'assets/'].some((part) => text.includes(part))
}

type Fence = { marker: string; language: string }

/** Languages of fenced blocks in which a path is a real call, not an illustration. */
const shellLanguages = new Set(['', 'bash', 'sh', 'shell', 'console', 'zsh', 'powershell', 'pwsh'])

function fenceOf(line: string): Fence | undefined {
  const match = /^\s*(?:[-*+]\s+|\d+[.)]\s+|>\s?)*(`{3,}|~{3,})\s*([^\s`]*)/.exec(line)
  if (match === null) return undefined
  const [, marker = '', language = ''] = match
  return { marker, language: language.toLowerCase() }
}

const linkPattern = /\]\(\s*(?:<([^<>\n]+)>|([^\s()<>]+(?:\([^\s()]*\)[^\s()]*)*))[^)\n]{0,300}\)/g

function linkTargets(line: string): string[] {
  const prose = withoutSpans(line)
  return [...prose.matchAll(linkPattern)].flatMap(([, angleTarget, bareTarget]) => {
    const target = decode((angleTarget ?? bareTarget ?? '').split(/[#?]/, 1)[0] ?? '').replace(
      /^\.\//,
      '',
    )
    return isRelativeFile(target) ? [target] : []
  })
}

/**
 * Removes code spans: a span ends at the next run of as many backticks as it begins with. Linear.
 */
function withoutSpans(line: string): string {
  const runs = [...line.matchAll(/`+/g)]
  // Each list ends with its first run that was not passed yet.
  const ahead = Map.groupBy(runs.toReversed(), ([{ length }]) => length)
  let prose = ''
  let from = 0
  for (const { 0: marks, index } of runs) {
    const sameLength = ahead.get(marks.length) ?? []
    sameLength.pop()
    const end = sameLength.at(-1)
    if (index < from || !end) continue
    prose += line.slice(from, index)
    from = end.index + marks.length
  }
  return prose + line.slice(from)
}

const barePattern =
  /(?<![\w./\\~${}<>@:*-])(?:\.\/)?((?:scripts|references|assets)\/[\w./-]*\w)(?![\w/<{*$[])/g

function barePaths(line: string): string[] {
  if (/[├└│┬─]/.test(line)) return []
  return [...line.matchAll(barePattern)].flatMap(([, path = '']) =>
    isNamedFile(path) && !isPlaceholder(path) ? [path] : [],
  )
}

/** Outside `scripts/` a word without an extension is a directory or prose. */
function isNamedFile(path: string): boolean {
  return /\.[A-Za-z]\w{0,7}$/.test(path) || (/^scripts\/[\w-]+$/.test(path) && /[-_]/.test(path))
}

function isRelativeFile(target: string): boolean {
  const isElsewhere = /^(?:[a-z][a-z0-9+.-]*:|[/\\~#])/i.test(target)
  return /[./]/.test(target) && !isElsewhere && !isPlaceholder(target)
}

/** Whether a name is a placeholder that every reader recognises. */
function isPlaceholder(path: string): boolean {
  if (/[<>{}*$[\]|…]|\.\.\./.test(path)) return true
  return /(?:^|[/_.-])(?:example|your|my|foo|bar|xxx?|some|name|file\d?|path)(?=[/_.-]|$)/i.test(
    path,
  )
}

function decode(target: string): string {
  try {
    return decodeURIComponent(target)
  } catch {
    return target
  }
}
