import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CliResult, runInProcess } from '../../run-in-process.ts'

let root: string
let project: string
let home: string

const review = `---
name: code-review
description: Reviews a change. Use when the user asks for a review.
license: MIT
compatibility: Requires git
allowed-tools: Bash(git:*) Read
argument-hint: "[path]"
metadata:
  author: example-org
  version: "1.2"
---
# Code review

Review $ARGUMENTS.

!\`git diff\`
`

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-cli-')))
  project = join(root, 'project')
  home = join(root, 'home')
  mkdirSync(join(project, '.git'), { recursive: true })
  const skills = 'project/.claude/skills'
  write({
    [`${skills}/code-review/SKILL.md`]: review,
    [`${skills}/code-review/references/list.md`]: 'List.',
    [`${skills}/code-review/scripts/lint.sh`]: '#!/bin/sh\n',
    [`${skills}/hidden/SKILL.md`]: text('hidden', 'disable-model-invocation: true'),
    [`${skills}/evil/SKILL.md`]: text('evil', 'license: "\\e[31mred\\u202e"'),
    [`${skills}/broken/SKILL.md`]: '---\nname: broken\n---\n',
    [`${skills}/one/SKILL.md`]: text('twin'),
    [`${skills}/two/SKILL.md`]: text('twin', 'license: MIT'),
    'home/.claude/skills/code-review/SKILL.md': text('code-review'),
    'home/.claude/skills/mine/SKILL.md': text('mine'),
  })
  chmodSync(join(root, skills, 'code-review/scripts/lint.sh'), 0o755)
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

function text(name: string, more = ''): string {
  return `---\nname: ${name}\ndescription: Does ${name}. Use when asked.\n${more}\n---\nDo ${name}.\n`
}

function write(files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
}

function skillrail(...args: string[]): Promise<CliResult> {
  return runInProcess(args, { cwd: project, home })
}

function inColumns(columns: number, ...args: string[]): Promise<CliResult> {
  return runInProcess(args, { cwd: project, home, env: { COLUMNS: String(columns) } })
}

describe('list', () => {
  it('shows usable and broken skills, with the reason', async () => {
    const { code, stdout, stderr } = await skillrail('list')
    expect(code).toBe(0)
    expect(stdout).toBe(
      [
        'NAME         SCOPE    TRUST      TOKENS  DESCRIPTION',
        'evil         project  untrusted       3  Does evil. Use when asked.',
        'hidden       project  untrusted       3  Does hidden. Use when asked.',
        'code-review  user     trusted         4  [hides 1] Does code-review. Use when asked.',
        'mine         user     trusted         3  Does mine. Use when asked.',
        'twin         project  conflict        3  another skill here has this name',
        'twin         project  conflict        3  another skill here has this name',
        'broken       project  broken          -  The skill has no usable `description`, so it cannot be offered to a model.',
        '',
      ].join('\n'),
    )
    expect(stderr).toContain('broken/SKILL.md:2:1: error: The skill has no usable `description`')
    expect(stderr).toContain('4 skills, 3 that cannot be used, 1 shadowed (--all shows them)')
  })

  it('shows shadowed skills with --all, and prefers a trusted project', async () => {
    const { stdout } = await skillrail('list', '--all', '--trust-workspace')
    expect(stdout).toMatch(/^code-review +project +trusted .*\[hides 1\]/m)
    expect(stdout).toMatch(/^code-review +user +shadowed +4 +trusted, in ~\/\.claude\/skills$/m)
    const users = await skillrail('list', '--trust-workspace', '--precedence', 'user')
    expect(users.stdout).toMatch(/^code-review +user +trusted/m)
  })

  it('fits a narrow terminal', async () => {
    for (const columns of [30, 40, 50, 60, 80, 120]) {
      const { stdout } = await inColumns(columns, 'list', '-q')
      const longest = Math.max(...stdout.split('\n').map((line) => line.length))
      expect(longest).toBeLessThanOrEqual(Math.max(columns, 34))
      expect(stdout).toContain('code-review')
    }
  })

  it('prints one JSON document of a fixed shape', async () => {
    const { code, stdout, stderr } = await skillrail('list', '--json', '--all')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const { skills, diagnostics } = JSON.parse(stdout)
    const user = join(home, '.claude/skills/code-review/SKILL.md')
    const ofProject = join(project, '.claude/skills/code-review/SKILL.md')
    expect(skills.find(({ path }: { path: string }) => path === user)).toEqual({
      name: 'code-review',
      description: 'Does code-review. Use when asked.',
      path: user,
      scope: 'user',
      trust: 'trusted',
      tokens: { metadata: 11, body: 4 },
      clients: ['claude', 'cursor', 'opencode'],
      shadows: [ofProject],
      diagnostics: [],
    })
    expect(skills.find(({ path }: { path: string }) => path === ofProject)).toMatchObject({
      shadowedBy: user,
    })
    expect(skills.filter(({ name }: { name: string }) => name === 'twin')).toHaveLength(2)
    expect(diagnostics).toMatchObject([{ code: 'description-missing', line: 2 }])
  })

  it('says how to create a skill if there are none', async () => {
    mkdirSync(join(root, 'bare'), { recursive: true })
    const { code, stdout, stderr } = await runInProcess(['list'], {
      cwd: join(root, 'bare'),
      home: join(root, 'bare'),
    })
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toContain('skillrail new NAME')
  })

  it('refuses a precedence that does not exist', async () => {
    const { code, stderr } = await skillrail('list', '--precedence', 'enterprise')
    expect(code).toBe(2)
    expect(stderr).toContain('allowed: project, user')
  })
})

describe('show', () => {
  it('shows the fields, the trust and the files', async () => {
    const { code, stdout } = await skillrail('show', 'project:code-review')
    expect(code).toBe(0)
    expect(stdout).toBe(`code-review
Reviews a change. Use when the user asks for a review.

path           ${project}/.claude/skills/code-review/SKILL.md
scope          project (.claude/skills)
trust          untrusted: its workspace was never trusted
tokens         17 for the catalogue, 12 when activated
license        MIT
compatibility  Requires git
allowed-tools  Bash(git:*) Read
invoked by     people and the model
arguments      [path]
metadata       author: example-org
metadata       version: 1.2

├── references/
│   └── list.md  5 B
└── scripts/
    └── lint.sh  10 B, executable
`)
  })

  it('names the skills that it hides', async () => {
    const { stdout } = await skillrail('show', 'code-review')
    expect(stdout).toContain(`hides       ${project}/.claude/skills/code-review/SKILL.md`)
    expect(stdout).toContain("trust       trusted: it is one of the user's own skills")
    expect(stdout).toContain('no files besides SKILL.md')
  })

  it('prints the body and the file unchanged', async () => {
    const body = await skillrail('show', 'project:code-review', '--body')
    expect(body.stdout).toBe('# Code review\n\nReview $ARGUMENTS.\n\n!`git diff`\n')
    const raw = await skillrail('show', 'project:code-review', '--raw')
    expect(raw.stdout).toBe(review)
  })

  it('makes control characters of a skill visible', async () => {
    const { stdout } = await skillrail('show', 'evil')
    expect(stdout).toContain('\\x1b[31mred\\u{202e}')
    expect(stdout).not.toContain('\u001b')
  })

  it('prints JSON', async () => {
    const { stdout } = await skillrail('show', 'project:code-review', '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      name: 'code-review',
      trust: 'untrusted',
      trustReason: 'its workspace was never trusted',
      fields: { license: 'MIT', metadata: { author: 'example-org', version: '1.2' } },
      resources: [
        { path: 'references/list.md', size: 5 },
        { path: 'scripts/lint.sh', executable: true },
      ],
    })
  })

  it.each([
    ['brokn', 3, 'Did you mean broken?'],
    ['broken', 1, 'skillrail validate'],
    ['twin', 1, 'Two different skills in one place are called twin'],
    ['./nowhere', 3, 'There is no skill at'],
  ])('ends for %s with %i', async (reference, expected, message) => {
    const { code, stdout, stderr } = await skillrail('show', reference)
    expect({ code, stdout }).toEqual({ code: expected, stdout: '' })
    expect(stderr).toContain(message)
    expect(stderr).not.toMatch(/\n\s+at /)
  })
})

describe('properties', () => {
  it.each([
    'project:code-review',
    '.claude/skills/code-review',
    '.claude/skills/code-review/SKILL.md',
  ])('prints the properties of %s as the reference library does', async (reference) => {
    const { code, stdout } = await skillrail('show', '--properties', reference)
    expect(code).toBe(0)
    expect(stdout).toBe(
      `${JSON.stringify(
        {
          name: 'code-review',
          description: 'Reviews a change. Use when the user asks for a review.',
          license: 'MIT',
          compatibility: 'Requires git',
          'allowed-tools': 'Bash(git:*) Read',
          metadata: { author: 'example-org', version: '1.2' },
        },
        null,
        2,
      )}\n`,
    )
  })

  it('leaves out absent fields', async () => {
    const { stdout } = await skillrail('show', '--properties', 'mine')
    expect(Object.keys(JSON.parse(stdout))).toEqual(['name', 'description'])
  })
})

describe('prompt', () => {
  it('prints every skill that the model may use, as the reference library does', async () => {
    const { code, stdout } = await skillrail('list', '--prompt')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^<available_skills>\n<skill>\n<name>\nevil\n<\/name>\n/)
    expect(stdout).toMatch(/<\/available_skills>\n$/)
    expect(stdout.match(/<name>\n.*\n/g)).toEqual(
      ['evil', 'code-review', 'mine'].map((name) => `<name>\n${name}\n`),
    )
  })

  it('prints the skills in the arguments, in that order', async () => {
    const { stdout } = await skillrail(
      'list',
      '--prompt',
      'hidden',
      '.claude/skills/evil',
      '--format',
      'markdown',
    )
    expect(stdout).toMatch(/^- \*\*hidden\*\*: Does hidden.*\n- \*\*evil\*\*/)
  })

  it('prints JSON, with --json or --format json', async () => {
    const [one, other] = [
      await skillrail('list', '--prompt', '--json'),
      await skillrail('list', '--prompt', '--format', 'json'),
    ]
    expect(JSON.parse(one.stdout).skills).toHaveLength(3)
    expect(other.stdout).toBe(one.stdout)
  })

  it('stays within a budget and names the skills that it left out', async () => {
    const { stdout, stderr } = await skillrail('list', '--prompt', '--budget', '60')
    expect(stdout.length).toBeLessThanOrEqual(240)
    expect(stderr).toMatch(/Left out: .*mine/)
  })

  it.each([
    [['--budget', 'much'], '--budget is much; expected a whole number from 0'],
    [['--format', 'yaml'], 'allowed: xml, markdown, json'],
  ])('refuses %j as wrong use', async (args, message) => {
    const { code, stderr } = await skillrail('list', '--prompt', ...args)
    expect(code).toBe(2)
    expect(stderr).toContain(message)
  })
})

describe('activate', () => {
  it('prints exactly the text that a model gets', async () => {
    const { code, stdout, stderr } = await skillrail(
      'show',
      '--activate',
      'project:code-review',
      'src/a.ts',
    )
    expect(code).toBe(0)
    expect(stdout).toBe(`<skill_content name="code-review">
# Code review

Review src/a.ts.

!\`git diff\`

Skill directory: ${project}/.claude/skills/code-review
Relative paths in this skill are relative to the skill directory.

<skill_resources>
<file>references/list.md</file>
<file>scripts/lint.sh</file>
</skill_resources>
</skill_content>
`)
    expect(stderr).toContain('asks to run `git diff`')
    expect(stderr).toContain(
      'the skill is untrusted, so the approval in `allowed-tools` has no effect',
    )
  })

  it.each([
    [['one word'], 'Review one word.'],
    [['two', 'words'], 'Review two words.'],
    [['a b', 'c'], 'Review "a b" c.'],
    [['--', '-x', ''], 'Review -x "".'],
  ])('takes the arguments %j', async (words, line) => {
    const { stdout } = await skillrail('show', '--activate', 'project:code-review', ...words)
    expect(stdout).toContain(line)
  })

  it('refuses with exit code 4 a source that the skill excludes', async () => {
    const model = await skillrail('show', '--activate', 'hidden', '--source', 'model')
    expect(model.code).toBe(4)
    expect(model.stderr).toContain('it sets disable-model-invocation')
    expect((await skillrail('show', '--activate', 'hidden')).code).toBe(0)
    expect((await skillrail('show', '--activate', 'hidden', '--source', 'robot')).code).toBe(2)
  })

  it("prints JSON with the skill's permissions", async () => {
    const { stdout } = await skillrail(
      'show',
      '--activate',
      'project:code-review',
      '--json',
      '--trust-workspace',
    )
    expect(JSON.parse(stdout)).toMatchObject({
      name: 'code-review',
      source: 'user',
      trustLevel: 'trusted',
      repeated: false,
      effects: { preApproved: [{ tool: 'Bash', pattern: 'git:*' }, { tool: 'Read' }] },
    })
  })
})

describe('doctor', () => {
  it('reports what is installed, what is missing, and how to fix it', async () => {
    const { code, stdout } = await skillrail('doctor')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^✓ node +v\d+/m)
    expect(stdout).toMatch(/^✓ cache directory +.*skillrail$/m)
    expect(stdout).toMatch(/^! skills +4 skills usable, 3 not, 1 shadowed\n +skillrail validate /m)
    expect(stdout).toMatch(
      /^· workspace +.* is not trusted: its skills cannot execute\n +.*skillrail trust\b/m,
    )
  })

  it('prints JSON', async () => {
    const { stdout } = await skillrail('doctor', '--json')
    const { checks } = JSON.parse(stdout)
    expect(checks.map(({ name }: { name: string }) => name)).toContain('skills')
    expect(checks.every((check: object) => 'status' in check && 'found' in check)).toBe(true)
  })

  it('ends with 1 if a required directory cannot be written', async () => {
    write({ 'state-file': '' })
    const { code, stdout } = await runInProcess(['doctor'], {
      cwd: project,
      home,
      env: { XDG_STATE_HOME: join(root, 'state-file') },
    })
    expect(code).toBe(1)
    expect(stdout).toMatch(/^✗ state directory +.*state-file\/skillrail cannot be written/m)
    expect(stdout).toContain('set XDG_STATE_HOME')
  })

  it('reports a broken configuration', async () => {
    write({ 'other/.git/HEAD': '', 'other/.skillrail/config.json': '{' })
    const { stdout } = await runInProcess(['doctor'], { cwd: join(root, 'other'), home })
    expect(stdout).toMatch(/^✗ configuration +.*config\.json\n +1 error, printed above\./m)
  })
})
