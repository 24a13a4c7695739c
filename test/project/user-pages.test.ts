import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { bin } from '../command-line.ts'
import { pages, prose } from './_pages.ts'

/** Pages that a script writes say so in a comment. */
const userPages = pages.filter(
  ({ path, text }) =>
    /^(?:README|docs\/(?:reference\/)?[^/]+)\.md$/.test(path) &&
    !/^<!-- (?:Generated|Written) /m.test(text),
)

it('what users read has at most 25,000 words that were written by hand', () => {
  const words = userPages.flatMap(({ text }) => text.split(/\s+/).filter((word) => /\w/.test(word)))
  expect(words.length).toBeLessThanOrEqual(25_000)
})

/** Wording that readers did not understand, or that has a plain word of the field. */
const unclear = [
  'remark',
  'mended',
  '(?<!there )is no (?!longer)',
  'goes on',
  'go on',
  'begun',
  'may act',
  'let rest',
  'at a terminal agreed',
  'nobody is at',
  'as its author should',
  'a bad answer',
  'the answer is bad',
  'so often',
  'beats',
  'turns that round',
  'whose word is not enough',
  'waits for nothing',
  'no verdict',
  'without a single',
  'can always say why',
  'standard output',
  'standard error',
]

it.each(userPages)('$path uses the words of the field', ({ path, text }) => {
  // The glossary lists words that are not used.
  const shown = path === 'docs/glossary.md' ? '' : prose(text).replaceAll(/`[^`]*`/g, '')
  const found = unclear.filter((phrase) => new RegExp(`(?<!\\w)${phrase}(?!\\w)`, 'i').test(shown))
  expect(found).toEqual([])
})

it('every line under "Try it" works in the project that the reader has then', () => {
  const readme = pages.find(({ path }) => path === 'README.md')?.text ?? ''
  const [, section = ''] = readme.split('## Try it')
  const [, , , block = ''] = section.split('```')
  const lines = block.replace(/^sh\n/, '')
  expect(lines.match(/^npx skillrail/gm)?.length).toBeGreaterThanOrEqual(9)
  const root = mkdtempSync(join(tmpdir(), 'skillrail-readme-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  for (const folder of ['bin', 'home', 'project/.git'])
    mkdirSync(join(root, folder), { recursive: true })
  const npx = `#!/bin/sh\nshift\nexec '${process.execPath}' --disable-warning=ExperimentalWarning '${bin}' "$@"\n`
  writeFileSync(join(root, 'bin/npx'), npx)
  chmodSync(join(root, 'bin/npx'), 0o755)
  const { status, stdout, stderr } = spawnSync('bash', ['-ec', lines], {
    cwd: join(root, 'project'),
    encoding: 'utf8',
    env: {
      PATH: [join(root, 'bin'), process.env['PATH']].join(delimiter),
      HOME: join(root, 'home'),
    },
  })
  expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toContain('1 skill checked, valid')
  expect(stdout).toContain('Deploy to staging first')
  expect(stdout).toContain('deploy: success')
  expect(stdout).toContain('1 skill')
})
