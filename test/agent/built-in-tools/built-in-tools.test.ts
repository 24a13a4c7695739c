import type { JsonObject } from '../../../src/core/json.ts'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { AgentTool, ToolContext } from '../../../src/agent/types.ts'
import { createPermit } from '../../../src/agent/approval/permit.ts'
import {
  createBuiltInTools,
  type BuiltInToolOptions,
} from '../../../src/agent/built-in-tools/built-in-tools.ts'
import { FailedResult } from '../../../src/agent/failed-result.ts'
import { emptyFixture } from '../_agent-fixture.ts'
import { until, withinLimit } from '../../patience.ts'

interface Hand {
  run: (input: JsonObject, signal?: AbortSignal) => Promise<unknown>
  tool: AgentTool
}

function hands(more: Partial<BuiltInToolOptions> = {}): {
  place: ReturnType<typeof emptyFixture>
  hand: (name: string) => Hand
} {
  const place = emptyFixture()
  const tools = createBuiltInTools(['all'], {
    project: place.project,
    runtime: place.runtime,
    ...more,
  })
  return {
    place,
    hand(name) {
      const [tool] = createBuiltInTools([name], {
        project: place.project,
        runtime: place.runtime,
        ...more,
      })
      if (tool === undefined) throw new Error(`no tool ${name} in ${tools.length}`)
      const context = (signal: AbortSignal): ToolContext => ({
        toolCallId: '1',
        signal,
        onEvent: () => undefined,
      })
      return {
        tool,
        run: (input, signal = new AbortController().signal) => tool.execute(input, context(signal)),
      }
    },
  }
}

describe('the built-in tools', () => {
  it('are selected by name and alias only, and have one order', () => {
    const { place } = hands()
    const options = { project: place.project, runtime: place.runtime }
    const names = (wanted: string[]): string[] =>
      createBuiltInTools(wanted, options).map(({ name }) => name)
    expect(names([])).toEqual([])
    expect(names(['Bash', 'Read', 'MultiEdit', 'read'])).toEqual(['read', 'edit', 'shell'])
    expect(names(['Glob', 'LS', 'Grep', 'Write'])).toEqual(['list', 'search', 'write'])
    expect(() => names(['bsah'])).toThrow(/no built-in tool called bsah. Did you mean bash\?/)
  })
})

describe('a path', () => {
  it('needs an approval outside of the project, also through links and dots', async () => {
    const { place, hand } = hands()
    place.write({ 'outside/secret': 'secret', 'project/inside': 'inside' })
    symlinkSync(join(place.root, 'outside'), join(place.project, 'link'))
    symlinkSync(join(place.root, 'outside/new'), join(place.project, 'dangling'))
    const { tool } = hand('read')
    for (const path of ['../outside/secret', 'link/secret', join(place.root, 'outside/secret')]) {
      expect(tool.alwaysAsk?.({ file_path: path })).toMatch(/outside of the project/)
      await expect(hand('read').run({ file_path: path })).rejects.toThrow(/was not approved/)
      await expect(hand('write').run({ file_path: path, content: '' })).rejects.toThrow(/outside/)
    }
    await expect(hand('write').run({ file_path: 'dangling', content: 'x' })).rejects.toThrow(
      'not a regular file',
    )
    expect(existsSync(join(place.root, 'outside/new'))).toBe(false)
    expect(tool.alwaysAsk?.({ file_path: 'inside' })).toBeUndefined()
    expect(await hand('read').run({ file_path: join(place.project, 'inside') })).toBe('1\tinside')
  })

  it('is refused after an approval if a link leads elsewhere by then', async () => {
    const { place, hand } = hands()
    place.write({ 'outside/a': 'a', 'outside/b': 'b' })
    const read = hand('read')
    const link = join(place.project, 'link')
    symlinkSync(join(place.root, 'outside/a'), link)
    const input = { file_path: 'link' }
    read.tool.alwaysAsk?.(input)
    expect(await read.run(input)).toBe('1\ta')
    unlinkSync(link)
    symlinkSync(join(place.root, 'outside/b'), link)
    await expect(read.run(input)).rejects.toThrow('was not approved')
  })

  it('can be read outside of the project after the approver allows it', async () => {
    const { place, hand } = hands()
    place.write({ 'outside/a': 'a' })
    const { tool, run } = hand('read')
    const asked: string[] = []
    const permit = createPermit({
      agent: 'main',
      platform: 'linux',
      approver: ({ reason }) => {
        asked.push(reason)
        return Promise.resolve({ approved: true })
      },
    })
    const input = { file_path: '../outside/a' }
    const signal = new AbortController().signal
    const answer = await permit(tool, input, { toolCallId: '1', signal, onEvent: () => undefined })
    expect(answer.allowed && (await run(answer.input ?? {}))).toBe('1\ta')
    expect(asked).toEqual([`${join(place.root, 'outside/a')} is outside of the project`])
  })

  it('can be read without an approval in an active skill, and not written', async () => {
    const { place, hand } = hands()
    place.write({ 'skills/x/a.md': 'text' })
    const readable = hands({ readable: () => [join(place.root, 'skills/x')] })
    const input = { file_path: join(place.root, 'skills/x/a.md') }
    expect(readable.hand('read').tool.alwaysAsk?.(input)).toBeUndefined()
    expect(await readable.hand('read').run(input)).toBe('1\ttext')
    expect(hand('read').tool.alwaysAsk?.(input)).toMatch(/outside/)
    expect(readable.hand('edit').tool.alwaysAsk?.(input)).toMatch(/outside/)
  })
})

describe('read', () => {
  it('returns numbered lines, in parts', async () => {
    const { place, hand } = hands()
    place.write({ 'project/a': Array.from({ length: 3000 }, (_, i) => `line ${i + 1}`).join('\n') })
    const all = String(await hand('read').run({ file_path: 'a' }))
    expect(all.startsWith('1\tline 1\n')).toBe(true)
    expect(all.endsWith('[1000 more lines: continue with offset 2001.]')).toBe(true)
    expect(await hand('read').run({ file_path: 'a', offset: 2999, limit: 9 })).toBe(
      '2999\tline 2999\n3000\tline 3000',
    )
    expect(await hand('read').run({ file_path: 'a', offset: 9999 })).toMatch(/only 3000 lines/)
  })

  it('reports a file that is binary, missing, a directory, too large or empty', async () => {
    const { place, hand } = hands()
    place.write({ 'project/empty': '', 'project/big': 'x'.repeat(11 * 1024 * 1024) })
    writeFileSync(join(place.project, 'nul'), Buffer.from([65, 0, 66]))
    writeFileSync(join(place.project, 'bytes'), Buffer.from([0xff, 0xfe, 0xfa]))
    mkdirSync(join(place.project, 'directory'))
    const read = (path: string): Promise<unknown> => hand('read').run({ file_path: path })
    await expect(read('nul')).rejects.toThrow('nul is a binary file of 3 bytes, not text.')
    await expect(read('bytes')).rejects.toThrow('binary')
    await expect(read('missing')).rejects.toThrow('missing does not exist')
    await expect(read('directory')).rejects.toThrow('a directory')
    await expect(read('big')).rejects.toThrow('the limit is')
    await expect(read('a\0b')).rejects.toThrow('NUL')
    expect(await read('empty')).toBe('empty is empty.')
  })
})

describe('list and search', () => {
  it('list a directory, and files by pattern, without following links', async () => {
    const { place, hand } = hands()
    place.write({
      'project/src/b.ts': '',
      'project/src/a/c.ts': '',
      'project/node_modules/x/d.ts': '',
      'outside/e.ts': '',
    })
    symlinkSync(join(place.root, 'outside'), join(place.project, 'link'))
    expect(await hand('list').run({})).toBe('.git/\nlink@\nnode_modules/\nsrc/')
    expect(await hand('list').run({ pattern: '**/*.ts' })).toBe('src/a/c.ts\nsrc/b.ts')
    expect(await hand('list').run({ path: 'src', pattern: '*.ts' })).toBe('src/b.ts')
    await expect(hand('list').run({ path: 'src/b.ts' })).rejects.toThrow('not a directory')
  })

  it('find lines by expression and by text, and skip binary files', async () => {
    const { place, hand } = hands()
    place.write({ 'project/src/a.ts': 'one\nTwo (x)\n', 'project/b.md': 'two\n' })
    writeFileSync(join(place.project, 'bin'), Buffer.from('two\0'))
    const search = (input: JsonObject): Promise<unknown> => hand('search').run(input)
    expect(await search({ pattern: '^[Tt]wo' })).toBe('b.md:1:two\nsrc/a.ts:2:Two (x)')
    expect(await search({ pattern: 'two', ignore_case: true, glob: '**/*.ts' })).toBe(
      'src/a.ts:2:Two (x)',
    )
    expect(await search({ pattern: '(x)', literal: true, path: 'src/a.ts' })).toBe(
      'src/a.ts:2:Two (x)',
    )
    expect(await search({ pattern: 'nothing' })).toBe('No line matches.')
    await expect(search({ pattern: '(' })).rejects.toThrow('cannot be used')
  })

  it('report that they stopped early', async () => {
    const { place, hand } = hands()
    place.write({ 'project/z.txt': 'needle\n' })
    const many = join(place.project, 'a')
    mkdirSync(many)
    for (let index = 0; index < 50_000; index++) writeFileSync(join(many, String(index)), '')
    const stopped = '[Stopped after 50000 entries: name a directory.]'
    expect(await hand('search').run({ pattern: 'needle' })).toBe(`No line matches.\n${stopped}`)
    expect(await hand('list').run({ pattern: '*.txt' })).toBe(
      `No file below . fits *.txt.\n${stopped}`,
    )
    expect(await hand('list').run({ path: 'a', pattern: '7' })).toBe('a/7')
    rmSync(many, { recursive: true })
    expect(await hand('search').run({ pattern: 'needle' })).toBe('z.txt:1:needle')
  }, 60_000)

  it('answer for a pattern that other engines never finish', async () => {
    const { place, hand } = hands()
    place.write({ 'project/a': `${'a'.repeat(50_000)}!` })
    expect(await hand('search').run({ pattern: '(a+)+$' })).toBe('No line matches.')
  })
})

describe('write and edit', () => {
  it('write whole files with their directories, and describe the change', async () => {
    const { place, hand } = hands()
    const input = { file_path: 'new/a.txt', content: 'one\ntwo\n' }
    expect(hand('write').tool.effect?.(input)).toBe('makes new/a.txt\n@@ -1,0 +1,2 @@\n+one\n+two')
    expect(existsSync(join(place.project, 'new'))).toBe(false)
    expect(await hand('write').run(input)).toBe('Made new/a.txt (8 bytes).')
    const second = { ...input, content: 'one\n2\n' }
    expect(hand('write').tool.effect?.(second)).toContain('-two\n+2')
    expect(await hand('write').run(second)).toBe('Replaced new/a.txt (6 bytes).')
    expect(readFileSync(join(place.project, 'new/a.txt'), 'utf8')).toBe('one\n2\n')
  })

  it('refuse to replace a directory', async () => {
    const { hand } = hands()
    await expect(hand('write').run({ file_path: '.git', content: '' })).rejects.toThrow(
      'not a regular',
    )
  })

  it('keep the mode of a file', async () => {
    const { place, hand } = hands()
    place.executable('project/run.sh', 'echo a\n')
    await hand('edit').run({ file_path: 'run.sh', old_string: 'a', new_string: 'b' })
    expect(statSync(join(place.project, 'run.sh')).mode & 0o777).toBe(0o755)
  })

  it('edit a text that occurs once, whatever it contains', async () => {
    const { place, hand } = hands()
    place.write({ 'project/a': 'x = 1\ny = 1\nprice $& $1\n', 'project/crlf': 'a\r\nb\r\n' })
    const edit = (input: JsonObject): Promise<unknown> =>
      hand('edit').run({ file_path: 'a', ...input })
    await expect(edit({ old_string: '= 1', new_string: '' })).rejects.toThrow('2 times')
    await expect(edit({ old_string: 'z', new_string: '' })).rejects.toThrow('does not contain')
    await expect(edit({ old_string: 'x', new_string: 'x' })).rejects.toThrow('the same')
    await edit({ old_string: 'price $& $1', new_string: "cost $' $$" })
    await edit({ old_string: '= 1', new_string: '= 2', replace_all: true })
    expect(readFileSync(join(place.project, 'a'), 'utf8')).toBe("x = 2\ny = 2\ncost $' $$\n")
    await edit({ file_path: 'crlf', old_string: 'a\nb', new_string: 'c\nd' })
    expect(readFileSync(join(place.project, 'crlf'), 'utf8')).toBe('c\r\nd\r\n')
  })

  it('edit one file several times at once without losing anything', async () => {
    const { place, hand } = hands()
    const names = Array.from({ length: 20 }, (_, index) => `<${index}>`)
    place.write({ 'project/a': names.join('\n') })
    await Promise.all(
      names.map((name) =>
        hand('edit').run({ file_path: 'a', old_string: name, new_string: `done ${name}` }),
      ),
    )
    expect(readFileSync(join(place.project, 'a'), 'utf8')).toBe(
      names.map((name) => `done ${name}`).join('\n'),
    )
  })
})

describe('shell', () => {
  it('runs in the project with a clean environment and says how it ended', async () => {
    const { place, hand } = hands({ environment: ['WANTED'] })
    process.env['UNWANTED_SECRET'] = 'x'
    const shell = (command: string): Promise<unknown> => hand('shell').run({ command })
    expect(await shell('pwd')).toBe(place.project)
    expect(await shell('echo "[$UNWANTED_SECRET]"')).toBe('[]')
    expect(await shell('echo out; echo err >&2; exit 3')).toEqual(
      new FailedResult('out\n[standard error]\nerr\n[exit code 3]'),
    )
    expect(await shell('true')).toBe('(no output)')
    expect(await shell('kill -9 $$')).toEqual(new FailedResult('[ended by signal SIGKILL]'))
  })

  it('ends the whole process group at the time limit and when it is aborted', async () => {
    const { place, hand } = hands()
    const command = 'sleep 60 & echo $! > child; wait'
    await withinLimit(
      300,
      (timeout) =>
        expect(hand('shell').run({ command, timeout })).rejects.toThrow('did not end within'),
      () => existsSync(join(place.project, 'child')),
    )
    const child = Number(readFileSync(join(place.project, 'child'), 'utf8'))
    await until(() => !isRunning(child))
    await expect(
      hand('shell').run({ command: 'sleep 60' }, AbortSignal.timeout(200)),
    ).rejects.toThrow('was stopped')
  })

  it('keeps a limited part of the output', async () => {
    const { hand } = hands()
    const output = String(await hand('shell').run({ command: 'yes | head -c 10000000' }))
    expect(output).toContain('bytes left out')
    expect(output.length).toBeLessThan(140_000)
  })

  it('shows the approver the whole command', () => {
    const { place, hand } = hands()
    expect(hand('shell').tool.effect?.({ command: 'rm -rf x' })).toBe(
      `runs in ${place.project}:\nrm -rf x`,
    )
  })
})

/** A process that has ended and that nobody has asked about yet still has its number. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
