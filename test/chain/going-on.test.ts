import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { acquireFileLock } from '../../src/core/file-lock.ts'
import { until } from '../patience.ts'
import { commandsIn } from './_command.ts'
import { log, makeProject, type TestProject } from './_project.ts'

let project: TestProject
beforeEach(() => {
  project = makeProject()
})
afterEach(() => project.remove())

const { command, skills, runIdOf } = commandsIn(() => project)
const journalOf = (runId: string): string => join(project.runs, `${runId}.jsonl`)

describe('a torn last line', () => {
  it.each(['resume RUN', 'resume RUN --json', 'retry RUN --json', 'cancel RUN'])(
    'is reported by runs %s',
    async (line) => {
      skills({ main: { metadata: ['chain: [a, b]'] }, a: log('a'), b: log('b') })
      await project.cli(['run', 'main'], 'kill:4')
      const run = await runIdOf()
      appendFileSync(journalOf(run), '{"type":"done","key":"1:b')
      const { notes } = await command(`runs ${line.replace('RUN', run)}`)
      expect(notes).toContain('journal-torn-tail')
    },
  )

  it.each(['status RUN', 'next RUN', 'report RUN --step think --status success'])(
    'is reported by chain %s',
    async (line) => {
      skills({ main: { metadata: ['chain: [think, a]'] }, think: {}, a: log('a') })
      await command('chain start main')
      const run = await runIdOf()
      appendFileSync(journalOf(run), '{"type":"done","key":"1:th')
      const { code, notes } = await command(`chain ${line.replace('RUN', run)}`)
      expect([code, notes]).toEqual([0, expect.arrayContaining(['journal-torn-tail'])])
    },
  )
})

describe('a run that waits', () => {
  beforeEach(() =>
    skills({
      main: { metadata: ['chain: [build, both]'] },
      both: { metadata: ['chain: [deploy, slow]', 'chain_async: true', 'gates: deploy'] },
      build: log('build'),
      deploy: log('deploy'),
      slow: log('slow'),
    }),
  )

  it('says that only trust differs, with exit code 4 and the command that continues the run', async () => {
    await command('run main')
    const run = await runIdOf()
    for (const name of ['resume', 'approve']) {
      const { error, code } = await command(`runs ${name} ${run}`, {
        workspaceTrust: 'ask',
        answer: 'y',
      })
      expect([code, error?.code]).toEqual([4, 'run-trust-changed'])
      expect(error?.message).toContain('only the trust of the skills')
      expect(error?.hint).toContain(`skillrail runs ${name} ${run} --trust-workspace`)
    }
  })

  it('can be rejected after any change of its skills, and executes nothing more', async () => {
    for (const become of [
      (): void => project.write('deploy', log('other')),
      (): void => rmSync(join(project.directory, '.skillrail/skills'), { recursive: true }),
    ]) {
      await command('run main')
      const run = await runIdOf()
      const before = project.log()
      become()
      const { code, lines, error } = await command(`runs reject ${run}`, {
        workspaceTrust: 'ask',
        answer: 'y',
      })
      expect([error, code]).toEqual([undefined, 1])
      expect(lines.join('\n')).toContain('gate-rejected')
      expect(project.log()).toEqual(before)
    }
  })

  it('names only valid commands after its skills were edited', async () => {
    await command('run main')
    const run = await runIdOf()
    project.write('deploy', log('other'))
    const { error } = await command(`runs approve ${run}`, { answer: 'y' })
    expect(error?.code).toBe('plan-changed')
    expect(error?.hint).toContain(`skillrail runs resume ${run} --force`)
  })
})

describe('repeated arguments', () => {
  it('are refused if they differ from the first ones', async () => {
    skills({ main: { metadata: ['chain: [a, b]'] }, a: log('a'), b: log('b') })
    await project.cli(['run', 'main', '--', 'one'], 'kill:4')
    const run = await runIdOf()
    const { error } = await command(`runs resume ${run} -- two`)
    expect(error?.code).toBe('arguments-differ')
    expect(`${error?.message} ${error?.hint}`).toContain('other arguments')
    expect((await command(`runs resume ${run} -- one`)).code).toBe(0)
  })
})

describe('a run that ended', () => {
  it('is answered again by resume after a success, without executing anything', async () => {
    skills({ main: { metadata: ['chain: [a]'] }, a: log('a') })
    const { json } = await command('run main --json')
    project.write('a', log('edited'))
    const again = await command(`runs resume ${json.runId} --json`, { workspaceTrust: 'ask' })
    expect([again.code, again.json]).toEqual([0, json])
    expect(project.log()).toEqual(['a'])
  })

  it('is refused after a failure, even if its skills were edited', async () => {
    skills({ main: { metadata: ['chain: [a]'] }, a: { run: 'exit 1' } })
    const { json } = await command('run main --json')
    project.write('a', log('edited'))
    expect((await command(`runs resume ${json.runId}`)).error?.code).toBe('run-ended')
  })
})

describe('runs show', () => {
  it('reports the step that a process executes as running, and the run as well', async () => {
    skills({
      main: { metadata: ['chain: [a, slow, b]'] },
      a: log('a'),
      slow: { run: 'echo slow >> log; until [ -e finish ]; do sleep 0.05; done' },
      b: log('b'),
    })
    const child = project.start(['run', 'main'])
    await until(() => project.log().includes('slow'))
    const run = await runIdOf()
    const { json } = await command(`runs show ${run} --json`)
    expect(json).toMatchObject({
      status: 'running',
      attempts: [
        {
          status: 'running',
          steps: [{ status: 'success' }, { status: 'running' }, { status: 'not_run' }],
        },
      ],
    })
    expect((await command(`runs show ${run}`)).lines.join('\n')).toMatch(/▸ slow +\d/)
    writeFileSync(join(project.directory, 'finish'), '')
    expect((await child.ended).code).toBe(0)
  })
})

describe('runs list', () => {
  beforeEach(async () => {
    skills({ main: { metadata: ['chain: [a]'] }, a: log('a') })
    await command('run main')
  })

  it.each(['hello', '{"pid":-1,"host":"x"}'])(
    'shows a run whose journal has %s as a lock',
    async (content) => {
      writeFileSync(`${journalOf(await runIdOf())}.lock`, content)
      expect((await command('runs list')).lines.join('\n')).toContain('success')
    },
  )

  it('does not report that there are no runs if one cannot be read', async () => {
    writeFileSync(journalOf(await runIdOf()), '{}\n')
    const { notes } = await command('runs list')
    expect(notes).toEqual(['journal-foreign', 'No run here can be read.'])
  })
})

describe('runs prune', () => {
  beforeEach(async () => {
    skills({ main: { metadata: ['chain: [a]'] }, a: log('a') })
    await command('run main')
  })

  it('is refused without a limit, and removes nothing', async () => {
    const unlimited = await command('runs prune')
    expect([unlimited.code, unlimited.error?.code]).toEqual([2, 'prune-unlimited'])
    expect((await command('runs prune --dry-run')).lines).toEqual([await runIdOf()])
    expect((await command('runs list --json')).json.runs).toHaveLength(1)
  })

  it('keeps a run that a process executes', async () => {
    const lock = acquireFileLock(journalOf(await runIdOf()))
    expect((await command('runs prune --keep 0')).lines).toEqual([])
    if (lock.ok) lock.release()
    expect((await command('runs list --json')).json.runs).toHaveLength(1)
  })

  it('removes the lock of a killed process', async () => {
    await project.cli(['run', 'main'], 'kill:4')
    const { runs } = project
    expect(readdirSync(runs).some((name) => name.endsWith('.lock'))).toBe(true)
    await command('runs prune --keep 0 --unfinished')
    expect(readdirSync(runs)).toEqual([])
  })

  it('removes the runs beyond a limit', async () => {
    expect((await command('runs prune --keep 0')).lines).toHaveLength(1)
  })
})

it('reports a journal that a step deleted', async () => {
  skills({
    main: { metadata: ['chain: [a]'] },
    a: { run: 'cd /; rm -rf "$(dirname "$(dirname "$SKILLRAIL_SCRATCH")")"' },
  })
  const { notes } = await command('run main --json')
  expect(notes).toContain('journal-gone')
})

it('reports a deleted journal of a run that an agent executes', async () => {
  skills({
    main: { metadata: ['chain: [think, a]'] },
    think: {},
    a: { run: 'cd /; rm -rf "$(dirname "$(dirname "$SKILLRAIL_SCRATCH")")"' },
  })
  const { runId } = (await command('chain start main --json')).json
  const { code, notes } = await command(`chain report ${runId} --step think --status success`)
  expect([code, notes]).toEqual([0, expect.arrayContaining(['journal-gone'])])
})

it.each([
  ['replaced', 'cp $f $f.new; mv $f.new $f'],
  ['shortened', 'echo > $f'],
  ['added to', 'echo x >> $f'],
])('reports that a step changed the journal: %s', async (_what, script) => {
  const run = `f=$SKILLRAIL_SCRATCH/../../$SKILLRAIL_RUN_ID.jsonl; ${script}`
  skills({ main: { metadata: ['chain: [a]'] }, a: { run } })
  const { notes, code } = await command('run main --json')
  expect([code, notes.includes('journal-changed')]).toEqual([0, true])
})

it('continues a run after the files for a step could not be written', async () => {
  const inTheWay = 'd=$(dirname "$SKILLRAIL_STATE"); [ -e fix ] || { rm -r "$d"; echo > "$d"; }'
  skills({
    main: { metadata: ['chain: [a, b]'] },
    a: { run: `echo a >> log; ${inTheWay}` },
    b: log('b'),
  })
  const stopped = await command('run main')
  const run = await runIdOf()
  expect([stopped.code, stopped.error?.code]).toEqual([1, 'run-files-unwritable'])
  expect(stopped.error?.message).toContain('the step b could not be started: its files in ')
  expect(stopped.error?.hint).toContain(`skillrail runs resume ${run}`)
  expect(JSON.stringify((await command('runs list --json')).json)).toContain('"interrupted"')
  rmSync(join(project.runs, run, 'steps'))
  expect((await command(`runs resume ${run}`)).code).toBe(0)
  expect(project.log()).toEqual(['a', 'b'])
})

it('says how to continue a run whose journal could not be written', async () => {
  skills({ main: { metadata: ['chain: [a, b]'] }, a: log('a'), b: log('b') })
  const { code, stderr } = await project.cli(['run', 'main'], 'full:4')
  expect([code, stderr]).toEqual([1, expect.stringContaining('the journal ')])
  expect(stderr).toContain(`Then run: skillrail runs resume ${await runIdOf()}`)
})

it('leaves nothing of a run that could not begin on a full disk', async () => {
  skills({ main: { metadata: ['chain: [a]'] }, a: log('a') })
  expect((await project.cli(['run', 'main'], 'full:1')).code).toBe(1)
  expect(readdirSync(project.runs)).toEqual([])
})

it('counts the time of a retry from the start of the retry', async () => {
  skills({
    main: { metadata: ['chain: [a, b]'] },
    a: log('a'),
    b: { run: '[ -e fix ] || exit 1' },
  })
  const past = Date.now() - 86_400_000
  const { json } = await command('run main --json', { now: () => past })
  writeFileSync(join(project.directory, 'fix'), '')
  const { lines } = await command(`runs retry ${json.runId}`)
  expect(lines.join('\n')).toMatch(/success, 2 of 2 steps succeeded, [\d.]+ m?s, /)
  expect(lines.join('\n')).toMatch(/a .*taken over/)
  expect(existsSync(journalOf(json.runId))).toBe(true)
  expect(readFileSync(journalOf(json.runId), 'utf8')).not.toContain('"reused"')
})
