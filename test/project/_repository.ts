import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { type CommandAnswer, type CommandFixture, commandsIn } from '../chain/_command.ts'
import { makeProject, type ProjectSkill, type TestProject } from '../chain/_project.ts'

/** A project in a real repository of Git, with its commands. */
export interface Repository {
  project: TestProject
  directory: string
  home: string
  git(...words: string[]): string
  write(path: string, text: string): void
  skills(table: Readonly<Record<string, ProjectSkill>>): void
  /** Commits everything; returns the commit's ID. */
  commit(): string
  command(line: string, fixture?: CommandFixture): Promise<CommandAnswer>
  /** Runs a chain to its end; returns the ID of the run. */
  run(line: string, code?: number): Promise<string>
  /** Runs a chain in which an agent does one step; returns the ID of the run. */
  drive(chain: string, step: string): Promise<string>
  /** Writes the proof of the newest run, and commits everything; returns the commit's ID. */
  prove(): Promise<string>
  proofPath(run: string): string
  /** Changes the newest proof by hand. */
  edit(change: (proof: EditableProof) => void): void
  /** The lines of `runs check-proof` that failed, and its exit code. */
  check(options: string, fixture?: CommandFixture): Promise<CheckResult>
  remove(): void
}

export interface CheckResult {
  code: number
  failed: string[]
  lines: { subject: string; status: string; text: string }[]
}

const editable = z.looseObject({
  predicateType: z.string(),
  predicate: z.looseObject({
    run: z.record(z.string(), z.unknown()),
    repository: z.record(z.string(), z.unknown()),
    chain: z.record(z.string(), z.unknown()),
    steps: z.array(z.record(z.string(), z.unknown())),
    approvals: z.array(z.record(z.string(), z.unknown())),
  }),
})

export type EditableProof = z.infer<typeof editable>

const checked = z.object({
  lines: z.array(z.object({ subject: z.string(), status: z.string(), text: z.string() })),
})

export function makeRepository(): Repository {
  const project = makeProject()
  const { directory } = project
  const home = join(directory, '../home')
  const env = { PATH: process.env['PATH'], HOME: home }
  const { command, skills, runIdOf } = commandsIn(() => project)
  const git = (...words: string[]): string =>
    execFileSync('git', words, { cwd: directory, env, encoding: 'utf8', stdio: 'pipe' }).trim()
  rmSync(join(directory, '.git'), { recursive: true })
  git('init', '--quiet', '-b', 'main')
  git('config', 'user.email', 'ada@example.com')
  git('config', 'user.name', 'Ada')
  git('config', 'commit.gpgsign', 'false')
  let newest = ''

  const repository: Repository = {
    project,
    directory,
    home,
    git,
    skills,
    command,
    write(path, text) {
      mkdirSync(dirname(join(directory, path)), { recursive: true })
      writeFileSync(join(directory, path), text)
    },
    commit() {
      git('add', '--all')
      git('commit', '--quiet', '--allow-empty', '-m', 'a change')
      return git('rev-parse', 'HEAD')
    },
    async run(line, code = 0) {
      const answer = await command(line)
      if (answer.code !== code)
        throw new Error(`${line}: ${answer.code} ${answer.lines.join('\n')}`)
      return await runIdOf()
    },
    async drive(chain, step) {
      await repository.run(`chain start ${chain}`)
      return await repository.run(
        `chain report latest --step ${step} --status success --result done`,
      )
    },
    async prove() {
      const answer = await command('runs proof latest --json')
      if (answer.code !== 0) throw answer.error ?? new Error(answer.lines.join('\n'))
      newest = z.object({ file: z.string() }).parse(answer.json).file
      return repository.commit()
    },
    proofPath: (run) => join(directory, '.skillrail/proofs', `${run}.json`),
    edit(change) {
      const proof = editable.parse(JSON.parse(readFileSync(newest, 'utf8')))
      change(proof)
      writeFileSync(newest, `${JSON.stringify(proof, undefined, 2)}\n`)
    },
    async check(options, fixture) {
      const answer = await command(`runs check-proof ${options} --json`, fixture)
      if (answer.error) throw answer.error
      const { lines } = checked.parse(answer.json)
      const failed = lines.filter(({ status }) => status === 'failed').map(({ text }) => text)
      return { code: answer.code, failed, lines }
    },
    remove: () => project.remove(),
  }
  return repository
}
