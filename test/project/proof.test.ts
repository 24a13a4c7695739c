import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeRepository, type Repository } from './_repository.ts'

let repository: Repository
beforeEach(() => {
  repository = makeRepository()
  repository.skills({
    main: { metadata: ['chain: |', '  build', '  work'] },
    build: { run: 'echo built --token=abcdefghij0123456789' },
    work: {},
    alone: { run: 'exit 3' },
  })
  repository.commit()
})
afterEach(() => repository.remove())

const read = (run: string) => JSON.parse(readFileSync(repository.proofPath(run), 'utf8')).predicate

describe('the proof of a run', () => {
  it('has the tree of the end of the run, not of the moment when it is written', async () => {
    repository.write('work.txt', 'done\n')
    const run = await repository.drive('main', 'work')
    repository.write('later.txt', 'x\n')
    await repository.prove()
    expect(read(run)).toMatchObject({
      run: { id: run, mode: 'stepper', status: 'success' },
      repository: { uncommitted: { count: 1, paths: ['work.txt'] } },
      chain: { name: 'main', directory: '.skillrail/skills/main' },
      steps: [
        { step: 'build', kind: 'script', evidence: 'exit-code' },
        { step: 'work', kind: 'instructions', evidence: 'self-reported' },
      ],
      versions: { client: null },
    })
    expect((await repository.check('--commit HEAD')).code).toBe(1)
    repository.git('rm', '-q', 'later.txt')
    repository.commit()
    expect((await repository.check('--commit HEAD')).code).toBe(0)
    const missing = await repository.check('--commit HEAD --require verified')
    expect(missing.failed).toEqual(['work is only reported by the agent'])
  })

  it('is written for a failed run too, and says so', async () => {
    const run = await repository.run('run alone', 1)
    const { notes } = await repository.command('runs proof')
    expect(notes.join('\n')).toContain('The run ended as failure')
    expect(read(run)).toMatchObject({ run: { status: 'failure' }, steps: [{ status: 'failure' }] })
    expect((await repository.check('--commit HEAD')).failed).toContain(
      `run ${run} of alone ended as failure`,
    )
  })

  it('is refused before the end of the run, and where the end has no tree', async () => {
    await repository.run('chain start main')
    expect((await repository.command('runs proof')).error?.code).toBe('run-not-ended')
    repository.git('config', 'filter.x.clean', 'cat')
    await repository.run('run alone', 1)
    const { error } = await repository.command('runs proof')
    expect(error?.code).toBe('tree-not-recorded')
    expect(error?.message).toContain('filter.x.clean')
  })

  it('goes into the file that the user names, and says if Git ignores it', async () => {
    repository.write('.gitignore', '.skillrail/proofs\n')
    const run = await repository.run('run alone', 1)
    await repository.command('runs proof latest --out there/proof.json')
    expect(existsSync(join(repository.directory, 'there/proof.json'))).toBe(true)
    expect(existsSync(repository.proofPath(run))).toBe(false)
    const { notes } = await repository.command('runs proof')
    expect(notes.join('\n')).toContain('Git ignores this file')
  })

  it('is not written through a link that leads out of the project', async () => {
    mkdirSync(join(repository.directory, '.skillrail'), { recursive: true })
    symlinkSync(repository.home, join(repository.directory, '.skillrail/proofs'))
    const run = await repository.run('run alone', 1)
    expect((await repository.command('runs proof')).error?.exitCode).not.toBe(0)
    expect(existsSync(join(repository.home, `${run}.json`))).toBe(false)
  })

  it('has a digest of the chain that only the files of the chain change', async () => {
    const digest = async (): Promise<string> => {
      const run = await repository.run('run alone', 1)
      await repository.command('runs proof')
      const { chain } = read(run)
      return chain.digest
    }
    const before = await digest()
    repository.write('.skillrail/config.json', '{ "run": { "timeout": 100 } }')
    expect(await digest()).toBe(before)
    repository.skills({ alone: { run: 'exit 4' } })
    expect(await digest()).not.toBe(before)
  })
})
