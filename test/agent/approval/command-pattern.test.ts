import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as patterns from '../../../src/agent/approval/command-patterns.ts'

const { commandFits } = patterns
const shellCommands = (line: string): string[][] | undefined =>
  patterns.shellCommands(line)?.map((words) => words.map(({ text }) => text))

const fits = (line: string, ...patterns: string[]): boolean => commandFits(line, patterns, 'linux')

describe('a pattern approves', () => {
  it.each([
    ['git status', 'git:*'],
    ['git', 'git:*'],
    ["git commit -m 'a; b && c'", 'git:*'],
    ['git commit -m "a $ b"'.replace('$', '#'), 'git:*'],
    ['git log HEAD^ --format=%h', 'git:*'],
    ['  git   status  ', 'git:*'],
    ['git status 2>&1', 'git:*'],
    ['git fetch > /dev/null 2>&1', 'git:*'],
    ['git add a\ngit commit -m b', 'git:*'],
    ['git add . && git commit -m x; git push &', 'git:*'],
    ['git log | git shortlog', 'git:*'],
    ['git add *.ts', 'git:*'],
    ['npm run test', 'npm run test:*'],
    ['npm run test -- --watch', 'npm run test:*'],
    ['npm run test:unit', 'npm run test:*'],
    ['npm test', 'npm test'],
    ['git diff main', 'git diff *'],
    ['git diff', 'git diff *'],
    ['git push origin main', 'git * main'],
    ['npm run build:fast', 'npm run build*'],
    ['git rm a', 'git add:*, git rm:*'],
    ['echo $(rm -rf ~)', '*'],
  ])('%s by %s', (line, pattern) => {
    expect(fits(line, pattern)).toBe(true)
  })

  it('approves every part of a line by its own pattern', () => {
    expect(fits('npm test && git push', 'git:*', 'npm test')).toBe(true)
    expect(fits('npm test && git push && ls', 'git:*', 'npm test')).toBe(false)
  })
})

describe('a pattern does not approve', () => {
  it.each([
    'git status; rm -rf /',
    'git status && rm -rf /',
    'git status || rm x',
    'git status | sh',
    'git status |& sh',
    'git status & rm x',
    'git status\nrm x',
    'git status\r\nrm x',
    'git status\rrm x',
    'git $(rm x)',
    'git `rm x`',
    'git "$(rm x)"',
    'git "`rm x`"',
    'git ${IFS}x',
    'git $X',
    "git $'\\x3b rm'",
    'git <(rm x)',
    'git >(rm x)',
    'git log > ~/.bashrc',
    'git log >> x',
    'git log >| x',
    'git log &> x',
    'git log >&x',
    'git log 2>x',
    'git log 2>&1x',
    'git log > /dev/null/../x',
    'git apply < x',
    'git apply <<E\nx\nE',
    'X=1 git status',
    'GIT_SSH_COMMAND=evil git fetch',
    'X=1; git status',
    '"X"=1 git status',
    '# git\nrm x',
    'git status # ; rm x',
    '(git status)',
    '{ git status; }',
    '! git status',
    'if git status; then git push; fi',
    'time git status',
    'exec git status',
    'eval git status',
    'env git status',
    'sudo git status',
    'xargs git status',
    '/usr/bin/git status',
    './git status',
    'gitx status',
    'git-evil',
    'g{it,x} status',
    'git\\\n status',
    'git\u00a0status',
    'git status\u2028rm x',
    'git status\u0000',
    "git 'unclosed",
    'git "unclosed',
    'git status \\',
    'git &&',
    '&& git status',
    'git status ;; rm x',
    'git;;git',
    "''",
    '',
    ' ',
    '\n',
    '~/git status',
    '*git status',
    '=git status',
    'git() { rm x; }; git',
    'function git { rm x; }',
    'alias git=rm; git x',
    'git status {a,b}',
    'git:x',
    `git ${'a'.repeat(20_000)}`,
  ])('%j by git:*', (line) => {
    expect(fits(line, 'git:*')).toBe(false)
  })

  it.each([
    ['npm run tester', 'npm run test:*'],
    ['npm run', 'npm run test:*'],
    ['npm test --x', 'npm test'],
    ['git push origin main x', 'git * main'],
    ['echo a b', 'echo "a b"'],
    ["echo 'a b'", 'echo a b'],
  ])('%s by %s', (line, pattern) => {
    expect(fits(line, pattern)).toBe(false)
  })

  it('approves only plain words on Windows, where another shell reads the line', () => {
    expect(commandFits('git status', ['git:*'], 'win32')).toBe(true)
    expect(commandFits('git status ^& del x', ['git:*'], 'win32')).toBe(false)
    expect(commandFits('git %X%', ['git:*'], 'win32')).toBe(false)
  })

  it('approves nothing without a pattern', () => {
    expect(fits('git status')).toBe(false)
    expect(fits('git status', '')).toBe(false)
    expect(fits('git status', ' , ')).toBe(false)
  })
})

describe('a line that is understood', () => {
  const word = fc.oneof(
    fc.constantFrom('git', 'a', '-m', 'x=y', 'b#c', 'd!', 'HEAD^', '1', 'e~f'),
    fc.string({ maxLength: 5 }),
  )
  const piece = fc.oneof(
    word,
    fc.constantFrom(' ', ' ', ';', '&&', '||', '|', '\n', "'", '"', '\\', '$', '`', '(', '>', '&'),
  )
  const line = fc.array(piece, { maxLength: 10 }).map((parts) => parts.join(''))

  it('has a program in every command', () => {
    fc.assert(
      fc.property(line, (text) => {
        for (const [program = ''] of shellCommands(text) ?? [[' ']]) expect(program).not.toBe('')
      }),
    )
  })

  it('is never approved together with something else', () => {
    const evil = fc.constantFrom(
      '; rm x',
      '&& rm x',
      '| rm x',
      '\nrm x',
      '& rm x',
      '$(rm x)',
      '`rm x`',
    )
    fc.assert(
      fc.property(line, evil, (text, more) => {
        const quotes = (text.match(/['"\\]/g) ?? []).length
        fc.pre(quotes === 0)
        expect(fits(`git ${text}${more}`, 'git:*')).toBe(false)
      }),
    )
  })

  it.each(['sh', 'bash'])('runs nothing else in %s', (shell) => {
    const directory = mkdtempSync(join(tmpdir(), 'skillrail-shell-'))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    const programs = join(directory, 'programs')
    mkdirSync(programs)
    writeFileSync(join(programs, 'git'), '#!/bin/sh\n', { mode: 0o755 })
    writeFileSync(join(programs, 'evil'), `#!/bin/sh\n: > '${directory}/done'\n`, { mode: 0o755 })
    const words =
      'git git evil evil a ; && || | & \' " \\ $ ` ( ) { } > < # ! = ~ 2>&1 * if then fi eval exec'
    const blanks = [
      ' ',
      ' ',
      ' ',
      '\n',
      '\r',
      '\t',
      '$(evil)',
      '`evil`',
      '>/dev/null',
      '> x',
      '\u00a0',
    ]
    const parts = fc.constantFrom(...words.split(' '), ...blanks)
    let approved = 0
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 9 }), (pieces) => {
        const text = `git ${pieces.join('')}`
        if (!fits(text, 'git:*')) return
        approved++
        spawnSync(shell, ['-c', text], { cwd: directory, env: { PATH: programs } })
        expect(readdirSync(directory)).toEqual(['programs'])
      }),
      { numRuns: 400 },
    )
    expect(approved).toBeGreaterThan(5)
  })

  it('is read by sh in the same way', () => {
    const safe = /^[^/]*$/
    fc.assert(
      fc.property(line, (text) => {
        const commands = shellCommands(`printf '%s\\0' ${text}`)
        fc.pre(commands?.length === 1 && safe.test(text) && !/[*?[]/.test(text))
        const { stdout } = spawnSync('sh', ['-c', `printf '%s\\0' ${text}`], { cwd: '/' })
        const [, , ...words] = commands?.[0] ?? []
        expect(stdout.toString()).toBe(words.length === 0 ? '\0' : `${words.join('\0')}\0`)
      }),
      { numRuns: 100 },
    )
  })
})
