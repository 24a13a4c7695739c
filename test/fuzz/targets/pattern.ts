import { RE2JS } from 're2js'
import { withoutEnd } from '../../../src/core/text.ts'
import { compilePattern } from '../../../src/trigger/pattern.ts'
import { matchPrompt } from '../../../src/trigger/match.ts'
import { portableRewrite } from '../../../src/trigger/check.ts'
import { demand, partsOf, same } from '../target.ts'

export const name = 'pattern'
export const seeds: readonly string[] = [
  '^/deploy (staging|production)\n%%\n/deploy staging now\nhello\n',
  '(?i)^fix [a-z]+ #\\d{1,3}$\n%%\nFIX bug #12\nfix it\n',
  'a.*b.*c|(x+x+)+y|[^a-z]\n%%\nxxxxxxxxxxxx\na b\r\nabc😀\n',
  '\\bfoo\\b|\\pL+\\.md$\n%%\nfoo bar\nécole.md\n',
  '[[:alpha:]_-]{2,5}?\\s*$\n%%\nab \n\n',
  'plain text\n%%\nsome plain text here\n',
]
export const words: readonly string[] = [
  '(?:',
  '(?i)',
  '(?P<n>',
  '[[:alpha:]]',
  '\\pL',
  '\\p{Greek}',
  '\\x{10FFFF}',
  '\\Q',
  '\\E',
  '\\b',
  '\\d',
  '\\z',
  '{2,5}',
  '*?',
  '[^a]',
  '\n%%\n',
]

/** Beyond, the library that we compare with takes seconds. */
const longestLine = 300

/** A pattern means what RE2 says, line by line. */
export function fuzz(data: Uint8Array): void {
  const [written = '', prompt = ''] = partsOf(data, 2)
  const source = withoutEnd(written, '\n')
  const lines = prompt.replaceAll('\r\n', '\n').split('\n')
  const reading = compilePattern(source)
  const skill = { name: 'a', directory: '/a', path: '/a/SKILL.md', triggers: [triggerOf(source)] }
  const matching = matchPrompt(prompt, [skill])
  if (!reading.ok) {
    demand(matching.matches.length === 0, 'a match of what is refused')
    demand(/\S/.test(reading.problem.message), 'a refusal without words')
    demand(reading.problem.offset <= source.length, 'a place outside of the pattern')
    const ours = ['pattern-too-long', 'pattern-too-large', 'pattern-unsupported']
    // Users do not type control characters, so a pattern with one is a mistake in its quotes.
    if (!ours.includes(reading.problem.code) && !/\p{Cc}/u.test(source)) {
      demand(compiled(source) === undefined, 'RE2 accepts it', source, reading.problem)
    }
    return
  }
  const { pattern } = reading
  const first = lines.findIndex((line) => pattern.test(line))
  const [match] = matching.matches
  // An empty prompt fires nothing.
  const line = prompt === '' ? 0 : first + 1
  demand((match?.promptLine ?? 0) === line, 'the line', source, prompt, match?.promptLine)
  const reference = compiled(pattern.source)
  demand(reference !== undefined, 'RE2 refuses it', source)
  const rewritten = portableRewrite(pattern.source)
  const portable = rewritten === undefined ? undefined : compilePattern(rewritten)
  demand(portable === undefined || portable.ok, 'a rewrite that is refused', source, rewritten)
  for (const line of lines.filter((each) => each.length <= longestLine).slice(0, 8)) {
    const matcher = reference.matcher(line)
    const matches = matcher.find()
    demand(pattern.test(line) === matches, 'another verdict than RE2', source, line, matches)
    const place = matches ? { start: matcher.start(), end: matcher.end() } : undefined
    demand(same(pattern.find(line), place), 'another place', source, line, place)
    if (portable?.ok === true) {
      demand(
        portable.pattern.test(line) === matches,
        'another verdict rewritten',
        source,
        rewritten,
      )
    }
  }
}

function triggerOf(match: string): { match: string; inject: string; line: number } {
  return { match, inject: 'a.md', line: 2 }
}

function compiled(source: string): RE2JS | undefined {
  try {
    return RE2JS.compile(source)
  } catch {
    return undefined
  }
}
