import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { matchPrompt } from '../../src/trigger/match.ts'
import { planInjection, renderInjection } from '../../src/trigger/inject.ts'
import { readTriggers } from '../../src/trigger/read-triggers.ts'
import { makeFixture, type ReferenceCase, referenceCases } from './_reference-cases.ts'

const a = '<!-- injected: references/a.md -->\nREF-A\n\n'
const b = '<!-- injected: references/b.md -->\nREF-B\n\n'

/** The closed list of deviations from the reference script: what is printed instead, and why. */
const deviations: Record<string, Record<string, string>> = {
  'any YAML spelling of the format is read': {
    'dq-escaped-backslash-digit': a,
    'trailing-tab': a,
    'tab-after-colon': a,
    'indent-0-list': a,
    'dash-two-spaces': a,
    'key-space-colon': a,
    'inject-first-then-good': a + b,
    'metadata-triggers': a,
    'triggers-inline-flow': a,
    'triggers-quoted-key': a,
    'delim-trailing-space': a,
    're-t-escape': a,
    're-x-escape': a,
    'prompt-backslash': '',
  },
  'what is not YAML is a diagnostic': {
    'dq-single-backslash-s': '',
    'inject-in-path': '',
    'half-quoted': '',
    're-W': '',
    're-d-letter': '',
    're-s': '',
    're-S': '',
    're-buffer-anchors': '',
  },
  'text that YAML takes for a comment is reported': { 'trailing-comment-inject': a },
  'a byte order mark is reported and skipped': { bom: a },
  'frontmatter must begin and end': { 'unterminated-frontmatter': '' },
  'a path that leaves the skill is refused': {
    'traversal-sibling': '',
    'traversal-deep': '',
    symlink: '',
  },
  'a file is injected once': { 'dup-same-file': a, 'dup-same-entry': a },
  'prompts of any size work': { 'prompt-over-128k': a },
  'a pattern may begin with a dash': { 're-dash-leading': a, 're-dash-leading2': '' },
  'CRLF in a prompt counts as LF': { 'prompt-crlf': a },
  'invalid patterns are diagnostics': {
    're-star-first': '',
    're-plus-first': '',
    're-qmark-first': '',
  },
  'constructs outside the portable subset mean what RE2 says': {
    're-noncapture': a,
    're-interval-open': '',
  },
}

/** Deviations that must be explained to the author. */
const explained = [
  'text that YAML takes for a comment is reported',
  'a byte order mark is reported and skipped',
  'what is not YAML is a diagnostic',
  'frontmatter must begin and end',
  'a path that leaves the skill is refused',
  'invalid patterns are diagnostics',
]

const recorded = referenceCases?.cases ?? []
const names = new Set(Object.values(deviations).flatMap((group) => Object.keys(group)))
const skipped = recorded.length === 0 ? ' (the recorded cases are not here)' : ''

describe.skipIf(recorded.length === 0)(`of the recorded runs${skipped}`, () => {
  it.each(recorded.filter(({ name }) => !names.has(name)))(
    'gives the answer of the reference script: $name',
    (one) => {
      expect(answer(one).text).toBe(one.expected_stdout)
    },
  )

  for (const [reason, group] of Object.entries(deviations)) {
    it.each(Object.entries(group))(`%s deviates: ${reason}`, (name, expected) => {
      const one = recorded.find((candidate) => candidate.name === name)
      if (one === undefined) throw new Error(`no case ${name}`)
      const { text, codes } = answer(one)
      expect(text).toBe(expected)
      expect(text).not.toBe(one.expected_stdout)
      expect(codes.length > 0).toBe(explained.includes(reason))
    })
  }
})

function answer({ frontmatter, prompt }: ReferenceCase): { text: string; codes: string[] } {
  const directory = makeFixture(frontmatter)
  const path = `${directory}/SKILL.md`
  const { triggers, diagnostics } = readTriggers(frontmatter, path)
  const matching = matchPrompt(prompt, [{ name: 't', path, directory, triggers }])
  const injection = planInjection(matching.matches)
  rmSync(dirname(dirname(directory)), { recursive: true })
  const found = [...diagnostics, ...matching.diagnostics, ...injection.diagnostics]
  return { text: renderInjection(injection.injected), codes: found.map(({ code }) => code) }
}
