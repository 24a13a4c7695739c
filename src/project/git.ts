import { spawnSync } from 'node:child_process'
import { messageOf } from '#core/errors'
import { findProgram } from '#core/find-program'
import type { Runtime } from '#core/runtime'

/** One call of Git in a repository. */
export interface GitCall {
  stdin?: string | undefined
  /** Besides the environment of this process, without the variables of Git. */
  env?: Readonly<Record<string, string>> | undefined
}

/** Git failed; the message is its first line on stderr. */
export class GitError extends Error {}

/** Runs Git in a repository without the programs that the repository's configuration can name. */
export class Git {
  readonly #program: string
  readonly #directory: string
  readonly #environment: NodeJS.ProcessEnv

  private constructor(program: string, directory: string, runtime: Pick<Runtime, 'env'>) {
    this.#program = program
    this.#directory = directory
    // A hook of Git sets variables that would point every call at one repository.
    const others = Object.entries(runtime.env).filter(([name]) => !name.startsWith('GIT_'))
    this.#environment = {
      ...Object.fromEntries(others),
      GIT_NO_REPLACE_OBJECTS: '1',
      GIT_GRAFT_FILE: '/dev/null',
      LC_ALL: 'C',
    }
  }

  /** Undefined if Git is not installed. */
  static in(
    directory: string,
    runtime: Pick<Runtime, 'env' | 'platform' | 'cwd'>,
  ): Git | undefined {
    const program = findProgram('git', runtime)
    return program === undefined ? undefined : new Git(program, directory, runtime)
  }

  /** Returns what Git prints. @throws {GitError} if Git fails */
  read(words: readonly string[], call: GitCall = {}): string {
    return this.bytes(words, call).toString('utf8')
  }

  /** Returns one line that Git prints; undefined if Git fails. */
  line(...words: string[]): string | undefined {
    try {
      return this.read(words).trim() || undefined
    } catch (error) {
      if (error instanceof GitError) return undefined
      throw error
    }
  }

  /** Whether Git ends without an error. */
  succeeds(...words: string[]): boolean {
    try {
      this.read(words)
      return true
    } catch (error) {
      if (error instanceof GitError) return false
      throw error
    }
  }

  /** As {@link read}, for output that may not be text. */
  bytes(words: readonly string[], { stdin, env }: GitCall = {}): Buffer {
    const options = [...quiet, '-C', this.#directory, ...words]
    const { status, stdout, stderr, error } = spawnSync(this.#program, options, {
      env: { ...this.#environment, ...env },
      input: stdin ?? '',
      maxBuffer: 1024 * 1024 * 1024,
    })
    if (error) throw new GitError(messageOf(error))
    if (status === 0) return stdout
    const lines = stderr.toString('utf8').trim().split('\n')
    const reason = lines.find((line) => /^(?:fatal|error): /.test(line)) ?? lines[0]
    throw new GitError(reason || `git ended with ${status}`)
  }
}

/**
 * A monitor and hooks are programs. The others would let Git believe that a file is unchanged without
 * reading it.
 */
const quiet = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'core.untrackedCache=false',
  'core.trustctime=true',
  'core.checkStat=default',
  'core.ignoreStat=false',
  'core.sparseCheckout=false',
  'core.splitIndex=false',
  'diff.ignoreSubmodules=dirty',
].flatMap((setting) => ['-c', setting])
