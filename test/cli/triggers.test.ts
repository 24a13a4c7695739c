import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type CliResult, runInProcess } from '../run-in-process.ts'

let root: string
let skill: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'skillrail-triggers-'))
  skill = join(root, 'project/.agents/skills/saw')
  mkdirSync(join(root, 'home'))
  mkdirSync(join(root, 'project/.git'), { recursive: true })
  mkdirSync(join(skill, 'references'), { recursive: true })
  writeFileSync(join(skill, 'references/program-flow.md'), 'PROGRAM\n')
  writeFileSync(join(skill, 'references/amend-flow.md'), 'AMEND\n')
  writeSkill('  - match: "^/saw program"\n    inject: references/program-flow.md\n')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function writeSkill(
  triggers: string,
  head = 'description: Plans work. Use when a task splits.\n',
): void {
  const text = `---\nname: saw\n${head}argument-hint: "[program|amend] [--force]"\ntriggers:\n${triggers}---\n# saw\n\nWhen it is blocked, wait.\n`
  writeFileSync(join(skill, 'SKILL.md'), text)
}

function skillrail(args: readonly string[], stdin?: string): Promise<CliResult> {
  return runInProcess(args, { cwd: join(root, 'project'), home: join(root, 'home'), stdin })
}

describe('skillrail triggers inject', () => {
  it('prints the references of a prompt, byte for byte the same every time', async () => {
    const args = ['triggers', 'inject', '--trust-workspace', '/saw program x']
    const [one, two] = [await skillrail(args), await skillrail(args)]
    expect(one).toMatchObject({
      code: 0,
      stdout: '<!-- injected: references/program-flow.md -->\nPROGRAM\n\n',
    })
    expect(two.stdout).toBe(one.stdout)
  })

  it('reads the prompt from stdin, whatever it begins with', async () => {
    writeSkill('  - match: "-n"\n    inject: references/program-flow.md\n')
    const { stdout } = await skillrail(['triggers', 'inject', '--skill', skill], '-n\n')
    expect(stdout).toContain('PROGRAM')
  })

  it('does not inject the text of an untrusted skill unless it is named', async () => {
    const installed = await skillrail(['triggers', 'inject', '/saw program'])
    expect(installed.stdout).toBe('')
    expect(installed.stderr).toContain(
      'not injected: references/program-flow.md of saw: the skill is not trusted',
    )
    expect(
      (await skillrail(['triggers', 'inject', '--skill', skill, '--', '/saw program'])).stdout,
    ).toContain('PROGRAM')
  })

  it('works on a skill that cannot be installed yet', async () => {
    writeSkill('  - match: "^/saw"\n    inject: references/program-flow.md\n', '')
    expect(
      (await skillrail(['triggers', 'inject', '--skill', skill, '--', '/saw'])).stdout,
    ).toContain('PROGRAM')
  })

  it('leaves out references over the budget and refuses a budget that is not a number', async () => {
    const args = ['triggers', 'inject', '--skill', skill, '--json', '--budget']
    const { stdout } = await skillrail([...args, '1', '--', '/saw program'])
    expect(JSON.parse(stdout)).toMatchObject({
      injected: [],
      deferred: [{ path: 'references/program-flow.md' }],
    })
    expect((await skillrail([...args, 'x', '--', '/saw program'])).code).toBe(2)
  })
})

describe('skillrail triggers match', () => {
  it('agrees with validate', async () => {
    const text = readFileSync(join(skill, 'SKILL.md'), 'utf8')
    writeFileSync(join(skill, 'SKILL.md'), text.replace('program-flow.md', 'nope.md'))
    const { stdout, code } = await skillrail(['validate', skill])
    writeFileSync(join(skill, 'SKILL.md'), text)
    expect(stdout).toContain('trigger-target-missing')
    expect(code).toBe(1)
  })

  it('says why no skill is near, and which skill is not installed', async () => {
    const { stdout, stderr } = await skillrail(['triggers', 'match', '--explain', '/nosuch x'])
    expect(stdout).toContain('the prompt does not contain `/saw program`')
    expect(stderr).toContain('No skill nosuch is installed here.')
  })

  it('reads a prompt as the hook of a client does', async () => {
    const ask = (client: string) =>
      skillrail(['triggers', 'match', '--trust-workspace', '--client', client, '$saw program x'])
    expect((await ask('codex')).stdout).toContain('program-flow.md')
    expect((await ask('claude')).stdout).toBe('')
  })

  it('prints JSON of a fixed shape', async () => {
    const { stdout } = await skillrail([
      'triggers',
      'match',
      '--trust-workspace',
      '--json',
      '/saw program x',
    ])
    expect(JSON.parse(stdout)).toEqual({
      prompt: '/saw program x',
      matches: [
        {
          skill: 'saw',
          kind: 'match',
          match: '^/saw program',
          inject: 'references/program-flow.md',
          line: 6,
          text: '/saw program',
          promptLine: 1,
          tokens: 2,
        },
      ],
      injected: [
        {
          skill: 'saw',
          path: 'references/program-flow.md',
          file: join(skill, 'references/program-flow.md'),
          tokens: 2,
        },
      ],
      deferred: [],
      diagnostics: [],
    })
  })

  it('explains which trigger fired and why a near miss did not', async () => {
    const fired = await skillrail([
      'triggers',
      'match',
      '--explain',
      '--trust-workspace',
      '/saw program x',
    ])
    expect(fired.stdout).toContain(
      'fired   ^/saw program -> references/program-flow.md (line 6): on `/saw program` in line 1 of the prompt; 2 tokens',
    )
    const missed = await skillrail(['triggers', 'match', '--explain', '/SAW program'])
    expect(missed.stdout).toContain(
      'missed  ^/saw program -> references/program-flow.md (line 6): capitals count',
    )
  })

  it('reports a pattern that is not accepted', async () => {
    writeSkill('  - match: "x(?=y)"\n    inject: references/program-flow.md\n')
    const { code, stderr } = await skillrail(['triggers', 'match', 'x'])
    expect(code).toBe(0)
    expect(stderr).toContain(
      'SKILL.md:6: error: The pattern `x(?=y)` is not accepted: RE2 refuses it: ',
    )
  })
})

describe('skillrail triggers check', () => {
  it('prints the output of validate-triggers and ends with 0', async () => {
    const { code, stdout } = await skillrail(['triggers', 'check', 'saw'])
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout:
        'OK ^/saw program -> references/program-flow.md\n1 trigger checked, 0 false-positive risk(s)\n',
    })
  })

  it('ends with 1 when a pattern matches the body', async () => {
    writeSkill('  - match: failure|blocked\n    inject: references/program-flow.md\n')
    const { code, stdout } = await skillrail(['triggers', 'check', 'saw'])
    expect(code).toBe(1)
    expect(stdout).toBe(
      'FAIL failure|blocked -> references/program-flow.md\n' +
        'Pattern matches the skill body - will fire on every invocation\n' +
        'First match: 3:When it is blocked, wait.\n' +
        '1 trigger checked, 1 false-positive risk(s)\n',
    )
  })

  it('counts every trigger, and reports why one cannot inject', async () => {
    writeSkill(
      '  - match: ^/bad2\n    inject: gone.md\n' +
        '  - match: ^/out\n    inject: ../out.md\n' +
        '  - match: ^/x(?=y)\n    inject: references/amend-flow.md\n' +
        '  - match: ^/half\n' +
        '  - match: ^/saw\n    inject: references/amend-flow.md\n',
    )
    const { code, stdout } = await skillrail(['triggers', 'check', 'saw'])
    expect(code).toBe(1)
    expect(stdout.split('\n')).toEqual([
      'FAIL ^/bad2 -> gone.md',
      expect.stringContaining('gone.md does not exist'),
      'FAIL - match: ^/out -> (none)',
      expect.stringContaining('not a relative path inside the skill'),
      'FAIL ^/x(?=y) -> references/amend-flow.md',
      expect.stringContaining('RE2 refuses it'),
      'FAIL - match: ^/half -> (none)',
      'A trigger has no `inject`.',
      'OK ^/saw -> references/amend-flow.md',
      '5 triggers checked, 0 false-positive risk(s), 4 with errors',
      '',
    ])
  })

  it.each([
    ['a list', '  - match: ^/out\n    inject: ../out.md\n'],
    ['lines', '  ^/out => ../out.md\n'],
  ])('finds a skill whose only trigger, in %s, leads outside', async (_, triggers) => {
    writeSkill(triggers)
    const { code, stdout } = await skillrail(['triggers', 'check'])
    expect(code).toBe(1)
    expect(stdout).toMatch(/^FAIL .*\^\/out\b.* -> \(none\)\n/)
    expect(stdout).toContain('1 trigger checked, 0 false-positive risk(s), 1 with errors')
  })

  it('rewrites portably with --fix, and shows it with --dry-run', async () => {
    writeSkill("  - match: '^/saw \\d+'\n    inject: references/program-flow.md\n")
    const before = readFileSync(join(skill, 'SKILL.md'), 'utf8')
    const dry = await skillrail(['triggers', 'check', 'saw', '--fix', '--dry-run'])
    expect(dry.stdout).toContain('+  - match: "^/saw [0-9]+"')
    expect(readFileSync(join(skill, 'SKILL.md'), 'utf8')).toBe(before)
    await skillrail(['triggers', 'check', 'saw', '--fix'])
    expect(readFileSync(join(skill, 'SKILL.md'), 'utf8')).toContain('"^/saw [0-9]+"')
  })

  it('tests an author’s prompts', async () => {
    const cases = [
      { prompt: '/saw program', inject: ['references/program-flow.md'] },
      { prompt: '/saw amend', inject: ['references/amend-flow.md'] },
    ]
    writeFileSync(join(root, 'project/prompts.json'), JSON.stringify(cases))
    const { code, stdout } = await skillrail([
      'triggers',
      'check',
      'saw',
      '--prompts',
      'prompts.json',
    ])
    expect(code).toBe(1)
    expect(stdout).toContain(
      'FAIL /saw amend -> nothing\nExpected: references/amend-flow.md\nprecision 100.0 % (20.7 to 100.0), recall 50.0 % (9.5 to 90.5), with 95 % confidence\n2 prompts checked, 1 wrong',
    )
    const json = await skillrail(['triggers', 'check', '--json', '--prompts', 'prompts.json'])
    expect(JSON.parse(json.stdout)).toMatchObject({
      skills: [{ skill: 'saw', triggers: [{ match: '^/saw program' }] }],
      prompts: [{ ok: true }, { ok: false }],
      summary: { checked: 1, risks: 0, errors: 0, warnings: 0 },
    })
  })
})

describe('skillrail triggers list', () => {
  it('shows every trigger, and the tokens of each tier', async () => {
    expect((await skillrail(['triggers', 'list'])).stdout).toMatch(
      /saw +\^\/saw program +references\/program-flow\.md +2/,
    )
    const { stdout } = await skillrail(['triggers', 'list', 'saw', '--tokens', '--json'])
    expect(JSON.parse(stdout).skills[0].tokens).toMatchObject({
      references: [{ path: 'references/program-flow.md', tokens: 2 }],
      saved: 0,
    })
  })
})

describe('skillrail triggers export', () => {
  it('writes script and table, changes nothing the second time, and removes both', async () => {
    const before = readFileSync(join(skill, 'SKILL.md'), 'utf8')
    expect((await skillrail(['triggers', 'export', 'saw', '--dry-run'])).stdout).toContain(
      '+#!/bin/sh',
    )
    expect(existsSync(join(skill, 'scripts'))).toBe(false)
    const first = await skillrail(['triggers', 'export', 'saw', '--json'])
    expect(JSON.parse(first.stdout).changed).toHaveLength(3)
    expect(statSync(join(skill, 'scripts/inject-context')).mode & 0o111).toBe(0o111)
    const second = await skillrail(['triggers', 'export', 'saw', '--json'])
    expect(JSON.parse(second.stdout).changed).toEqual([])
    await skillrail(['triggers', 'export', 'saw', '--remove'])
    expect(readFileSync(join(skill, 'SKILL.md'), 'utf8')).toBe(before)
    expect(existsSync(join(skill, 'scripts'))).toBe(false)
  })

  it('leaves a foreign script alone without --force', async () => {
    mkdirSync(join(skill, 'scripts'))
    writeFileSync(join(skill, 'scripts/inject-context'), 'mine\n')
    for (const args of [[], ['--remove']]) {
      const { code, stderr } = await skillrail(['triggers', 'export', 'saw', ...args])
      expect(code).toBe(1)
      expect(stderr).toContain('was not written by skillrail')
    }
    expect(readFileSync(join(skill, 'scripts/inject-context'), 'utf8')).toBe('mine\n')
    expect((await skillrail(['triggers', 'export', 'saw', '--force'])).code).toBe(0)
  })
})

describe('skillrail triggers index', () => {
  const line = '- `/saw`: Plans work. Use when a task splits. Subcommands: program, amend.'

  it('prints the index with a token report', async () => {
    const { stdout, stderr } = await skillrail(['triggers', 'index'])
    expect(stdout).toContain(`${line}\n`)
    expect(stderr).toMatch(/1 skill, \d+ tokens/)
  })

  it('writes between markers, keeps the rest, and --check reports an outdated file', async () => {
    const file = join(root, 'project/CLAUDE.md')
    writeFileSync(file, '# Mine\n')
    expect((await skillrail(['triggers', 'index', '--check'])).code).toBe(1)
    expect((await skillrail(['triggers', 'index', '--write'])).stdout).toBe('written CLAUDE.md\n')
    const text = readFileSync(file, 'utf8')
    expect(text.startsWith('# Mine\n\n<!-- skillrail:index -->\n')).toBe(true)
    expect(text).toContain(line)
    expect((await skillrail(['triggers', 'index', '--check'])).code).toBe(0)
    await skillrail(['triggers', 'index', '--write'])
    expect(readFileSync(file, 'utf8')).toBe(text)
    expect(existsSync(join(root, 'project/AGENTS.md'))).toBe(false)
  })

  it('leaves a file with a damaged marker alone', async () => {
    const file = join(root, 'project/CLAUDE.md')
    writeFileSync(file, '<!-- skillrail:index -->\nx\n')
    const { code, stdout } = await skillrail(['triggers', 'index', '--write'])
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: 'broken CLAUDE.md: the marker <!-- /skillrail:index --> is missing\n',
    })
  })
})

it.each(['run: scripts/run.sh\n', 'metadata:\n  chain: "a b"\n', ''])(
  'reports triggers in map form in a skill with %j',
  async (more) => {
    writeSkill(
      '  match: ^/saw\n  inject: references/program-flow.md\n',
      `description: Plans work. Use when a task splits.\n${more}`,
    )
    for (const names of [[], ['saw']]) {
      const { code, stderr } = await skillrail(['triggers', 'check', ...names])
      expect(code).toBe(1)
      expect(stderr).toContain('`triggers` is a map, and a list is required. [field-type]')
    }
  },
)

it('reports no diagnostic about another field, whatever its text is', async () => {
  writeSkill(
    '  - match: "^/saw program"\n    inject: references/program-flow.md\n',
    'description: Plans work. Use when a task splits.\ndisable-model-invocation: "trigger maybe"\nrun: ../trigger.sh\n',
  )
  const { code, stdout } = await skillrail(['triggers', 'check', 'saw', '--json'])
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ summary: { errors: 0 } })
})

it('reports a file below metadata that leads out of the skill', async () => {
  writeFileSync(
    join(skill, 'SKILL.md'),
    '---\nname: saw\ndescription: Plans work.\nmetadata:\n  triggers: |\n    ^/saw => ../x\n  author: trigger\n---\n',
  )
  const { code, stderr } = await skillrail(['triggers', 'check', 'saw'])
  expect({ code, outside: stderr.includes('[path-outside]') }).toEqual({ code: 1, outside: true })
})
