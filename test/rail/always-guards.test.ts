import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { makeSession } from './_session.ts'

const ship = ['chain: |', '  build', '  publish gate guard="Bash(git push:*) mcp__hub__merge_*"']
const skills = {
  ship: { metadata: [...ship, 'guards: always'] },
  build: { run: 'echo built' },
  publish: {},
}

function start(chains: Parameters<typeof makeSession>[0] = skills) {
  const session = makeSession(chains)
  return {
    ...session,
    bash: async (line: string) => session.bash(line),
    prompt: async (text: string) => session.prompt(text),
  }
}

/** A project whose chains a user has accepted. */
async function accepted(chains: Parameters<typeof makeSession>[0] = skills) {
  const session = start(chains)
  const trust = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await session.cli('trust', '--yes', ...args)
    expect({ stderr, code }).toMatchObject({ code: 0 })
    return stdout
  }
  const records = join(session.home, '.local/state/skillrail/guards')
  return { ...session, trust, records, shown: await trust() }
}

const file = '.claude/skills/ship/SKILL.md'

describe('a chain with `guards: always`', () => {
  it('denies its guarded calls until its own rail comes to their step, and again afterwards', async () => {
    const { bash, call, prompt, stop, shown } = await accepted()
    expect(shown).toContain('Denied to agents whose client has a working hook')
    const denial = await bash('git -C . push origin main')
    expect(denial).toContain('`publish` of the chain `ship`')
    expect(denial).toContain('Start `/ship` first')
    expect(await call('mcp__hub__merge_pull', {})).toContain('`/ship`')
    expect(await bash('git status')).toBeUndefined()
    expect(await call('Write', { file_path: 'a.txt', content: 'git push' })).toBeUndefined()
    await prompt('/ship')
    expect(await bash('git push')).toContain('which waits for the approval of the user')
    await prompt('rail approve')
    expect(await bash('git push')).toBeUndefined()
    await prompt('rail pause')
    expect(await bash('git push')).toBeDefined()
    await prompt('rail resume')
    expect(await bash('git push')).toBeUndefined()
    await stop('Published.')
    await stop('Published.')
    expect(await bash('git push')).toContain('Start `/ship` first')
  })

  it('denies a line that is too long to be read, and says how to go on', async () => {
    const { bash, prompt } = await accepted()
    const line = `echo ${'$('.repeat(20_000)}x${')'.repeat(20_000)}`
    for (const start of [undefined, '/ship']) {
      if (start !== undefined) await prompt(start)
      const denial = await bash(line)
      expect(denial).toContain('too long or too nested to be read')
      expect(denial).toContain('`publish` of the chain `ship`')
      expect(denial).toContain('Split it into several calls')
    }
    expect(await bash(`${line} guardrail`)).toContain('a decision of the user')
    await prompt('rail approve')
    expect(await bash(line)).toBeUndefined()
  })

  it('guards nothing before a user has accepted it', async () => {
    const { bash } = start()
    expect(await bash('git push')).toBeUndefined()
  })

  it('does not open for a rail of another session, another client, or another chain', async () => {
    const other = { metadata: ['chain: |', '  build', '  publish guard="Bash(git push:*)"'] }
    const { bash, prompt, use, as } = await accepted({ ...skills, other })
    await prompt('/other')
    expect(await bash('git push')).toContain('chain `ship`')
    use('s2')
    await prompt('/ship')
    await prompt('rail approve')
    expect(await bash('git push')).toBeUndefined()
    use('s3')
    expect(await bash('git push')).toContain('chain `ship`')
    use('s2')
    as('qwen')
    expect(await bash('git push')).toContain('chain `ship`')
  })

  it('opens inside of another chain that calls it', async () => {
    const { bash, prompt } = await accepted({ ...skills, all: { metadata: ['chain: ship'] } })
    await prompt('/all')
    expect(await bash('git push')).toBeDefined()
    await prompt('rail approve')
    expect(await bash('git push')).toBeUndefined()
  })
})

describe('an agent that changes the chain', () => {
  it('removes no guard, whatever it writes into the file', async () => {
    const { write, bash, trust, prompt } = await accepted()
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
        write(file, text)
        expect(await bash('git push')).toContain('chain `ship`')
      }),
      { numRuns: 30 },
    )
    const body = (lines: readonly string[]): string =>
      `---\nname: ship\ndescription: Ships. Use when asked.\nmetadata:\n  ${lines.join('\n  ')}\n---\nShip.\n`
    for (const lines of [
      ship,
      ['chain: |', '  publish guard="Bash(git push:*)"', 'guards: always'],
    ]) {
      write(file, body(lines))
      expect(JSON.stringify(await prompt('/ship'))).toContain('skillrail trust')
      expect(await bash('git push')).toMatch(/Start `\/ship` first|which did not start/)
    }
    expect(await trust()).toContain('changed')
    await prompt('/ship')
    expect(await bash('git push')).toBeUndefined()
  })

  it('removes no guard when it deletes the file, until a user accepts that', async () => {
    const { remove, bash, trust, records } = await accepted()
    remove('.claude/skills')
    expect(await bash('git push')).toContain('chain `ship`')
    expect(await trust()).toContain('No longer denied')
    expect(await bash('git push')).toBeUndefined()
    expect(existsSync(records)).toBe(false)
  })

  it('removes no guard when it changes to another repository or another working tree', async () => {
    const { directory, send } = await accepted()
    const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: directory })
    git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'a')
    git('worktree', 'add', '-q', join(directory, '../tree'))
    git('init', '-q', 'inner')
    mkdirSync(join(directory, '../elsewhere'))
    const push = { tool_name: 'Bash', tool_input: { command: 'git push' } }
    const inPlace = async (place: string): Promise<string | undefined> => {
      const cwd = join(directory, place)
      const answer = await send({ hook_event_name: 'PreToolUse', ...push, cwd })
      return answer?.hookSpecificOutput?.permissionDecision
    }
    expect(await inPlace('inner')).toBe('deny')
    expect(await inPlace('../tree')).toBe('deny')
    expect(await inPlace('../elsewhere')).toBeUndefined()
  })
})

describe('the record of guards', () => {
  it.each([['trust', '.claude/skills/ship'], ['--pin'], ['--lock']])(
    'is written by %s',
    async (...args) => {
      const { bash, cli } = start()
      const words = args[0] === 'trust' ? args : ['trust', ...args]
      expect((await cli(...words, '--yes')).code).toBe(0)
      expect(await bash('git push')).toContain('chain `ship`')
    },
  )

  it('denies commands and MCP tools, but no reads or edits, if it cannot be read', async () => {
    const { bash, call, prompt, records, trust } = await accepted()
    const [name = ''] = readdirSync(records)
    for (const text of ['', '{}', '{"version":2,"chains":[]}', '{"version":1,"chains":[{}]}']) {
      writeFileSync(join(records, name), text)
      expect(await bash('ls')).toContain(join(records, name))
      expect(await call('mcp__hub__list', {})).toContain(join(records, name))
      expect(await call('Read', { file_path: 'a' })).toBeUndefined()
      expect(await call('Edit', { file_path: 'a' })).toBeUndefined()
    }
    // A chain that a user has not accepted as it is now could open them.
    const refusal = await prompt('/ship')
    expect(JSON.stringify(refusal)).toContain('the guards that a user accepted cannot be read')
    await trust()
    expect(await bash('ls')).toBeUndefined()
    expect(await bash('git push')).toContain('chain `ship`')
    rmSync(records, { recursive: true })
    writeFileSync(records, '')
    expect(await bash('ls')).toContain(records)
  })

  it('contains the user’s own chains, which guard in every project', async () => {
    const { home, directory, bash, trust, send } = await accepted({ build: { run: 'echo built' } })
    const folder = join(home, '.claude/skills/mine')
    mkdirSync(folder, { recursive: true })
    const text =
      '---\nname: mine\ndescription: Mine. Use when asked.\nmetadata:\n  chain: |\n    step guard="Bash(git push:*)"\n  guards: always\n---\nMine.\n'
    writeFileSync(join(folder, 'SKILL.md'), text)
    expect(await bash('git push')).toBeUndefined()
    expect(await trust()).toContain('in every project')
    expect(await bash('git push')).toContain('chain `mine`')
    rmSync(folder, { recursive: true })
    const cwd = join(directory, '../elsewhere')
    mkdirSync(cwd)
    const push = { tool_name: 'Bash', tool_input: { command: 'git push' } }
    const answer = await send({ hook_event_name: 'PreToolUse', ...push, cwd })
    expect(answer?.hookSpecificOutput?.permissionDecision).toBe('deny')
    expect(await trust()).toContain('No longer denied')
    expect(await bash('git push')).toBeUndefined()
  })

  it('is not removed below an agent client, even if the runs are stored in another place', async () => {
    const { env, home, cli, records } = await accepted()
    Object.assign(env, { CLAUDECODE: '1' })
    for (const more of [{}, { SKILLRAIL_STATE_DIRECTORY: join(home, 'runs') }]) {
      Object.assign(env, more)
      for (const args of [
        ['trust', '--yes'],
        ['trust', '--revoke'],
        ['trust', '--unlock'],
        ['hooks', 'uninstall'],
      ]) {
        const { code } = await cli(...args)
        expect({ args, code }).toEqual({ args, code: 4 })
      }
    }
    expect(readdirSync(records)).toHaveLength(1)
  })

  it('is removed with the trust of the project', async () => {
    const { cli, bash, records } = await accepted()
    expect((await cli('trust', '--revoke')).code).toBe(0)
    expect(await bash('git push')).toBeUndefined()
    expect(existsSync(records)).toBe(false)
  })
})
