import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runInProcess } from '../run-in-process.ts'

let root: string

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'skillrail-match-calls-'))
  write('project/.git/HEAD', '')
  write('project/src/app.ts', '')
  write('project/.claude/commands/team/standup.md', 'Stand up.')
  write('home/.claude/commands/mine.md', 'Mine.')
  skill('.claude/skills', 'ship', [
    ["match: '^/ship( |$)'"],
    ["match: '^/deploy '"],
    ["match: '^/standup'"],
    ["match: '^/mine$'"],
    ["match: '^\\$ship'"],
    ["paths: ['src/']", 'require: true'],
    ["paths: ['docs/**']", 'on: read'],
    ["command: '^git push'"],
    ['tool: mcp__data_base__drop_*'],
    ['tool: mcp__notes', 'require: false'],
  ])
  skill('.qwen/skills', 'only-qwen', [["match: '^/only-qwen'"]])
})
afterAll(() => rmSync(root, { recursive: true }))

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

function skill(folder: string, name: string, triggers: readonly (readonly string[])[]): void {
  const items = triggers.map(
    (lines) => `  - ${[...lines, 'inject: references/a.md'].join('\n    ')}`,
  )
  const text = `---\nname: ${name}\ndescription: For tests.\ntriggers:\n${items.join('\n')}\n---\n\n# x\n`
  write(`project/${folder}/${name}/SKILL.md`, text)
  write(`project/${folder}/${name}/references/a.md`, 'TEXT '.repeat(2000))
}

async function ask(...args: readonly string[]) {
  const { code, stdout, stderr } = await runInProcess([...args, '--json'], {
    cwd: join(root, 'project'),
    home: join(root, 'home'),
  })
  const answer: unknown = stdout === '' ? undefined : JSON.parse(stdout)
  return { code, stderr, answer: Object(answer) }
}

describe('match with a tool call', () => {
  it.each([
    [['--file', 'src/app.ts'], ['paths[edit]: src/']],
    [['--file', 'src/new/deep.ts', '--tool', 'Write'], ['paths[edit]: src/']],
    [['--file', 'src/app.ts', '--tool', 'Read'], []],
    [['--file', 'docs/a.md', '--tool', 'read_file'], ['paths[read]: docs/**']],
    [['--file', 'docs/a.md'], ['paths[read]: docs/**']],
    [['--command', 'CI=1 git -C x push'], ['command: ^git push']],
    [['--command', 'echo "git push"'], []],
    [['--command', 'git push', '--tool', 'run_shell_command'], ['command: ^git push']],
    [['--tool', 'mcp__data_base__drop_table'], ['tool: mcp__data_base__drop_*']],
    [['--tool', 'mcp__data-base__Drop_table'], ['tool: mcp__data_base__drop_*']],
    [['--tool', 'mcp__data_base__query'], []],
    [['--tool', 'mcp__notes__add'], ['tool: mcp__notes']],
    [['--tool', 'mcp_notes_add', '--client', 'gemini'], ['tool: mcp__notes']],
    [['--tool', 'data-base-drop_table', '--client', 'copilot'], ['tool: mcp__data_base__drop_*']],
    [['--tool', 'data_base_drop_table', '--client', 'opencode'], ['tool: mcp__data_base__drop_*']],
  ])('names the triggers that fire with %j', async (args, matches) => {
    const { answer } = await ask('triggers', 'match', ...args)
    expect(answer.matches.map(({ match }: { match: string }) => match)).toEqual(matches)
    expect(answer.call.kind).toBeDefined()
  })

  it.each([
    [['--file', 'src/app.ts'], true],
    [['--tool', 'mcp__data_base__drop_table'], true],
    [['--tool', 'mcp__notes__add'], undefined],
  ])('says whether a trigger denies the call: %j', async (args, denies) => {
    const { answer } = await ask('triggers', 'match', ...args)
    expect(answer.matches[0].denies).toBe(denies)
  })

  it('explains why a trigger does not fire', async () => {
    const { answer } = await ask('triggers', 'match', '--command', 'sudo ls -l; x', '--explain')
    const reasons = answer.explanation[0].verdicts.map(({ reason }: { reason: string }) => reason)
    expect(reasons[7]).toContain('`sudo ls -l`, `ls -l`, `x`')
    expect(reasons[0]).toContain('waits for a prompt')
    expect(reasons.at(-1)).toContain('waits for a tool of an MCP server')
    const other = await ask('triggers', 'match', '--tool', 'mcp__other__x', '--explain')
    const last = other.answer.explanation[0].verdicts.at(-1)
    expect(last.reason).toContain('the name of the tool does not match')
  })

  it.each([
    ['tool-input-missing', ['--tool', 'Bash']],
    ['tool-input-missing', ['--tool', 'mcp_notes_add']],
    ['tool-input-missing', ['--tool', 'mcp__notes__add', '--client', 'copilot']],
    ['option-conflict', ['--tool', 'mcp__notes__add', 'a prompt']],
    ['tool-unseen', ['--tool', 'mcp__x__y', '--file', 'a']],
    ['tool-unseen', ['--tool', 'Bash', '--file', 'a']],
    ['tool-unseen', ['--tool', 'Edit', '--command', 'a']],
    ['option-conflict', ['--command', 'a', '--file', 'a']],
    ['option-conflict', ['--command', 'a', 'a prompt']],
  ])('refuses with %s a call that no client sends: %j', async (code, args) => {
    const { code: exit, answer } = await ask('triggers', 'match', ...args)
    expect([exit, answer.error.code]).toEqual([2, code])
  })
})

describe('a tool that no client has', () => {
  const unknown = (skills: readonly { diagnostics: readonly Found[] }[]): number[] =>
    skills
      .flatMap(({ diagnostics }) => diagnostics)
      .filter(({ code }) => code === 'trigger-tool-unknown')
      .map(({ line }) => line)

  it.each([
    ['triggers', 'check', 'ship'],
    ['validate', '.claude/skills/ship'],
  ])('is reported by %s until a configuration of a client names its server', async (...args) => {
    expect(unknown((await ask(...args)).answer.skills)).toEqual([23, 25])
    const servers = { 'data-base': { command: 'node', args: ['-e', ''] } }
    write('project/.mcp.json', JSON.stringify({ mcpServers: servers }))
    write('home/.gemini/settings.json', JSON.stringify({ mcpServers: { notes: { command: 'x' } } }))
    const { answer, code } = await ask(...args)
    expect([code, unknown(answer.skills)]).toEqual([0, []])
    rmSync(join(root, 'project/.mcp.json'))
    rmSync(join(root, 'home/.gemini'), { recursive: true })
  })
})

describe('match --client', () => {
  it.each([
    ['claude', '/deploy x', 'deploy'],
    ['claude', '/only-qwen x', 'only-qwen'],
    ['claude', '/ship x', undefined],
    ['claude', '/standup', undefined],
    ['claude', '/mine', undefined],
    ['claude', '/usr/bin is full', undefined],
    ['claude', 'deploy /deploy', undefined],
    ['codex', '/ship x', 'ship'],
    ['codex', '$ship x', undefined],
    ['gemini', '/deploy x', undefined],
  ])('reports whether %s refuses %j', async (client, prompt, name) => {
    const { answer } = await ask('triggers', 'match', '--client', client, prompt)
    expect(answer.refusal?.name).toBe(name)
    const fires = name === undefined && /^[/$]|^\/(?:ship|standup|mine|deploy)/.test(prompt)
    expect(answer.matches.length > 0).toBe(fires && !prompt.startsWith('/usr'))
    expect(answer.injected).toEqual([])
  })
})

interface Found {
  code: string
  line: number
}

describe('a prompt that no hook gets', () => {
  const warnedLines = (skills: readonly { diagnostics: readonly Found[] }[]): number[] =>
    skills
      .flatMap(({ diagnostics }) => diagnostics)
      .filter(({ code }) => code === 'trigger-never-sent')
      .map(({ line }) => line)

  it.each([
    ['triggers', 'check', 'ship'],
    ['validate', '.claude/skills/ship'],
  ])('is reported by %s', async (...args) => {
    const { answer, code } = await ask(...args)
    // `^/deploy ` and `^\$ship`; `/standup` and `/mine` are commands of Claude Code.
    expect(warnedLines(answer.skills)).toEqual([7, 13])
    expect(code).toBe(0)
  })

  it.each([
    [['triggers', 'check', '../shelf/pack'], ''],
    [['validate', '../shelf'], ''],
    [['triggers', 'check', '../shelf/pack'], 'deploy'],
    [['validate', '../shelf'], 'deploy'],
  ])(
    'is not reported for a skill in a neighbouring folder: %j, with %j',
    async (args, neighbour) => {
      const file = '---\nname: pack\ndescription: For tests.\ntriggers:\n'
      const trigger = "  - match: '^/deploy '\n    inject: a.md\n---\n"
      write('shelf/pack/SKILL.md', `${file}${trigger}`)
      write('shelf/pack/a.md', 'TEXT')
      if (neighbour !== '') write(`shelf/${neighbour}/SKILL.md`, file.replace('pack', neighbour))
      const { answer } = await ask(...args)
      expect(warnedLines(answer.skills)).toEqual(neighbour === '' ? [5] : [])
      rmSync(join(root, 'shelf'), { recursive: true })
    },
  )
})
