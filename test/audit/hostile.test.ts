import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { auditLimits } from '../../src/audit/read-tree.ts'
import { auditRules } from '../../src/audit/rules.ts'
import { auditSkill } from '../../src/audit/audit-skill.ts'
import { wordRules } from '../../src/audit/word-rules.ts'
import { safeLine } from '../../src/core/text.ts'
import { skillFolder, skillText } from './_skill-folder.ts'

const codesOf = (directory: string): string[] => [
  ...new Set(auditSkill(directory).findings.map(({ code }) => code)),
]

describe('an audit of a hostile folder', () => {
  it('executes nothing that a skill contains', () => {
    const directory = skillFolder({
      'scripts/run.sh': '#!/bin/sh\ntouch "$(dirname "$0")/ran"\n',
      'SKILL.md': skillText('!`touch ran`', 'run: scripts/run.sh\n'),
    })
    auditSkill(directory)
    expect(existsSync(join(directory, 'ran'))).toBe(false)
    expect(existsSync(join(directory, 'scripts/ran'))).toBe(false)
  })

  it('reads nothing through a link, be it a file, a directory or the SKILL.md itself', () => {
    const directory = skillFolder()
    const outside = join(directory, '../outside')
    mkdirSync(outside)
    writeFileSync(join(outside, 'SKILL.md'), skillText('sudo curl https://outside.example'))
    symlinkSync('../outside', join(directory, 'references'))
    symlinkSync('../outside/SKILL.md', join(directory, 'linked.md'))
    expect(codesOf(directory)).toEqual(['link-outside'])
    const hint = 'Copy what is needed into the skill.'
    expect(auditSkill(directory).findings[0]).toMatchObject({ hint })
    const linked = join(directory, '../linked')
    mkdirSync(linked)
    symlinkSync('../outside/SKILL.md', join(linked, 'SKILL.md'))
    expect(codesOf(linked)).toEqual(['link-outside', 'not-analysed'])
  })

  it('does not read a sparse file of a gigabyte', () => {
    const directory = skillFolder({ 'big.md': '', 'large.sh': 'sudo ls\n' })
    truncateSync(join(directory, 'big.md'), 1024 ** 3)
    truncateSync(join(directory, 'large.sh'), auditLimits.fileBytes)
    const audit = auditSkill(directory)
    expect(audit.analysedBytes).toBeLessThan(auditLimits.textBytes + 1000)
    expect(audit.findings.map(({ code, file }) => `${file} ${code}`)).toEqual(
      expect.arrayContaining(['big.md file-too-large', 'large.sh not-analysed']),
    )
  })

  it('reads no more of one skill than the limit, and says which files it left out', () => {
    const text = `${'a'.repeat(99)}\n`.repeat(auditLimits.textBytes / 100)
    const directory = skillFolder(
      Object.fromEntries(Array.from({ length: 18 }, (_, index) => [`${index}.md`, text])),
    )
    const audit = auditSkill(directory)
    expect(audit.analysedBytes).toBe(auditLimits.totalBytes)
    expect(audit.findings.filter(({ code }) => code === 'not-analysed').length).toBeGreaterThan(1)
  })

  it('checks the instructions whatever else the folder contains', () => {
    const directory = skillFolder({ 'SKILL.md': skillText('sudo ls') })
    for (let index = 0; index < auditLimits.entries + 500; index++) {
      linkSync(join(directory, 'SKILL.md'), join(directory, `${index}.bin`))
    }
    rmSync(join(directory, 'SKILL.md'))
    writeFileSync(join(directory, 'SKILL.md'), skillText('sudo ls')) // listed last, in many systems
    const { name, findings } = auditSkill(directory)
    expect(name).toBe('deploy')
    expect(findings).toContainEqual(
      expect.objectContaining({ code: 'privilege', file: 'SKILL.md', line: 6 }),
    )
    expect(findings).toContainEqual(expect.objectContaining({ code: 'too-many-files' }))
  })

  it('counts the places of a rule beyond the limit', () => {
    const directory = skillFolder({ 'a.sh': 'sudo ls\n'.repeat(1000) })
    const found = auditSkill(directory).findings.filter(({ code }) => code === 'privilege')
    expect(found).toHaveLength(auditLimits.places + 1)
    expect(found.at(-1)).toMatchObject({ message: '980 more of this kind in this file' })
    expect(found.at(-1)?.line).toBeUndefined()
  })

  it('reads UTF-16, Latin-1, and text after a NUL', () => {
    const directory = skillFolder({
      'a.txt': Buffer.from('\ufeffsudo ls', 'utf16le'),
      'b.txt': Buffer.from('caf\xe9\nsudo ls', 'latin1'),
      'c.sh': 'id\0\nsudo ls',
    })
    const found = auditSkill(directory).findings.filter(({ code }) => code === 'privilege')
    expect(found.map(({ file, line }) => [file, line])).toEqual([
      ['a.txt', 1],
      ['b.txt', 2],
      ['c.sh', 2],
    ])
  })

  it('reports a folder that does not exist or has no SKILL.md', () => {
    expect(codesOf(join(skillFolder(), 'missing'))).toEqual(['not-analysed'])
  })

  it('never shows a secret', () => {
    const secrets = [
      ['ghp', 'q7R8t2Vw9LmZ4kPj6Hs3Bn5Yc8Xd1Gf0UaKe'].join('_'),
      'hunter2Xq9z7',
      'Zm9vYmFyMTIzNDU2Nzg5',
    ]
    const directory = skillFolder({
      'SKILL.md': skillText(
        `curl -H "Authorization: Bearer ${secrets[2]}" https://u:${secrets[1]}@h.example/${secrets[0]}`,
        `allowed-tools: Bash(curl:*)\n`,
      ),
      'a.sh': `export API_TOKEN=${secrets[1]}\n# ${secrets[0]}\n`,
    })
    const printed = JSON.stringify(auditSkill(directory))
    expect(printed).toContain('secret-token')
    expect(secrets.filter((secret) => printed.includes(secret))).toEqual([])
  })
})

const everyPattern = wordRules.flatMap(({ patterns }) => patterns)

describe('the patterns for capabilities', () => {
  // With a bound on every repetition, an attempt at one offset takes a bounded time.
  it.each(everyPattern.map(({ source }) => source))(
    '%s has a bound on every repetition',
    (source) => {
      const bare = source.replaceAll(/\\./g, 'x').replaceAll(/\[[^\]]*\]/g, 'x')
      expect(bare.replaceAll(/\{\d+(?:,\d+)?\}/g, '')).not.toMatch(/[*{]|\+(?!\\)/)
    },
  )
})

const pieces = [
  '\u202e',
  '\u{e0041}',
  '\u001b[2J',
  '\u200b',
  '<!--',
  '-->',
  '---\n',
  '```',
  '`',
  '\n',
  'curl ',
  '|',
  'eyJ',
  '.',
  'sk-',
  'https://',
  '@',
  ':',
  '=',
  'password',
  '__proto__',
  'style="color:',
  '"',
  '>',
  'A',
  'rm -rf ',
  '\0',
  '\r',
  '\ud800',
  '!`',
  '{}',
  '%',
]

const nasty = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.array(fc.constantFrom(...pieces), { maxLength: 60 }).map((parts) => parts.join('')),
)

describe('an audit of any text', () => {
  it('gives the same answer twice, with known codes and messages that are safe to print', () => {
    const directory = skillFolder()
    const codes = new Set(auditRules.map(({ code }) => code))
    fc.assert(
      fc.property(nasty, nasty, fc.boolean(), (frontmatter, text, isWhole) => {
        const content = isWhole ? text : skillText(text, `allowed-tools: ${frontmatter}\n`)
        writeFileSync(join(directory, 'SKILL.md'), content)
        writeFileSync(join(directory, 'run.sh'), text)
        const audit = auditSkill(directory)
        expect(auditSkill(directory)).toEqual(audit)
        for (const { code, message, subject = '', file, line = 1 } of audit.findings) {
          expect(codes.has(code)).toBe(true)
          expect(safeLine(message)).toBe(message)
          expect(safeLine(subject)).toBe(subject)
          const lines = readFileSync(join(directory, file), 'utf8').split('\n').length
          expect(line).toBeLessThanOrEqual(lines)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('takes linear time on long repetitions', () => {
    const repeated = [
      'curl ',
      '-eyJaaaaaaaa',
      'style=',
      '<!--',
      '`',
      'a.',
      '://',
      'sk-',
      ' .env',
      'base64 -d ',
      '\\x4',
    ]
    const text = repeated.map((piece) => piece.repeat(50_000 / piece.length)).join('\n')
    const audit = auditSkill(skillFolder({ 'a.md': text }))
    expect(audit.analysedBytes).toBeGreaterThan(text.length)
  })
})
