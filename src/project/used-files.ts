import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { realPathOf, statsOf } from '#core/read-files'
import { programName, readShellCommands, type ShellWord } from '#core/shell-commands'
import type { SkillInfo } from '#library/model'

/** A file of a skill. */
export interface UsedFile {
  /** The skill's `SKILL.md`. */
  skill: string
  /** Relative to the skill's directory, with `/`. */
  path: string
}

/** Finds the files of skills that paths and commands name, through links too. */
export class SkillFiles {
  readonly #skills: ReadonlyMap<string, string>
  readonly #names: readonly string[]
  readonly #home: string
  readonly #filesByPath = new Map<string, UsedFile | undefined>()

  /** A copy of a skill that another one hides counts as the one that is used: clients read different folders. */
  constructor(
    skills: readonly Pick<SkillInfo, 'path' | 'realDirectory' | 'shadows' | 'linkedFrom'>[],
    home: string,
  ) {
    this.#home = home
    const places = skills.flatMap(({ path, realDirectory, shadows, linkedFrom }) => {
      const paths = [path, ...shadows, ...linkedFrom.map((link) => link.path)]
      const directories = paths.map((one) => dirname(one))
      return [realDirectory, ...directories].map((directory) => ({ directory, skill: path }))
    })
    const real = places.map(({ directory, skill }) => {
      return [realPathOf(directory) ?? directory, skill] as const
    })
    // The skill that is used comes first, and the last entry of a key counts.
    this.#skills = new Map(real.toReversed())
    this.#names = [...new Set(places.map(({ directory }) => basename(directory)))]
  }

  /** Returns the file at a path if it belongs to a skill and still exists. */
  at(path: string, cwd: string): UsedFile | undefined {
    const absolute = resolve(cwd, path)
    if (!this.#filesByPath.has(absolute)) this.#filesByPath.set(absolute, this.#find(absolute))
    return this.#filesByPath.get(absolute)
  }

  /**
   * Returns the files that a shell line names: as a word of a command or as its input. A `cd` earlier in the
   * line counts. Words that only the shell knows, such as `*.md`, do not, except `~` and `$HOME`.
   */
  inCommand(line: string, cwd: string): UsedFile[] {
    const text = `${cwd} ${line}`
    // Most lines name no skill, and the parser takes longer than this.
    if (!this.#names.some((name) => text.includes(name))) return []
    let directory = cwd
    const files = new Map<string, UsedFile>()
    for (const { words, redirections } of readShellCommands(line).commands) {
      const [program, ...rest] = words
      const paths = rest.flatMap((word) => this.#pathOf(word) ?? [])
      if (programName(program) === 'cd') {
        if (paths[0] !== undefined) directory = resolve(directory, paths[0])
        continue
      }
      const inputs = redirections.filter((_, index) => redirections[index - 1] === '<')
      const programs = program === undefined ? [] : [program.text]
      for (const path of [...programs, ...paths, ...inputs]) {
        const file = this.at(path, directory)
        if (file) files.set(`${file.skill}\0${file.path}`, file)
      }
    }
    return [...files.values()]
  }

  #pathOf({ text, isConstant }: ShellWord): string | undefined {
    const below = /^(?:~|\$HOME|\$\{HOME\})(\/[^$*?`{[]*)?$/.exec(text)
    if (below) return join(this.#home, below[1] ?? '')
    return isConstant ? text : undefined
  }

  #find(path: string): UsedFile | undefined {
    const real = realPathOf(path)
    if (real === undefined || statsOf(real)?.isFile() !== true) return undefined
    for (let directory = dirname(real); ; directory = dirname(directory)) {
      const skill = this.#skills.get(directory)
      if (skill !== undefined) {
        return { skill, path: relative(directory, real).split(sep).join('/') }
      }
      if (dirname(directory) === directory) return undefined
    }
  }
}
