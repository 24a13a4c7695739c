import { withoutEnd } from '../../base/index.ts'
import { fits, readPattern, understood, wordFits, type WordPattern } from './command-pattern.ts'
import type { ShellWord } from './shell-command.ts'

export type Denial = 'yes' | 'no' | 'unclear'

/**
 * Whether one of the commands in a line fits a denied pattern, or nobody can tell: for words that
 * the shell replaces, options in between such as `git -C . push`, and programs that run others.
 * Directories before the name of a program make no difference.
 */
export function commandMayFit(
  line: string,
  patterns: readonly string[],
  platform: NodeJS.Platform,
): Denial {
  const wanted = patterns.flatMap(readPattern)
  if (wanted.includes('all')) return 'yes'
  const denied = wanted.filter((pattern) => pattern !== 'all')
  const commands = understood(line, platform)
  if (commands === undefined) return 'unclear'
  const answers = new Set(
    commands.flatMap((words) => denied.map((pattern) => denialOf(words, pattern, platform))),
  )
  if (answers.has('yes')) return 'yes'
  return answers.has('unclear') ? 'unclear' : 'no'
}

/** Programs that run what their arguments or their input say. */
const runners: ReadonlySet<string> = new Set(
  (
    'bash busybox chroot chrt cmd csh dash doas env expect fish flock ionice ksh nice nohup nsenter ' +
    'parallel pkexec powershell pwsh runuser script setpriv setsid sh ssh stdbuf strace su sudo ' +
    'systemd-run taskset tcsh time timeout toybox unbuffer unshare watch xargs zsh'
  ).split(' '),
)

/** Programs that do so unless the first argument is the file that they run. */
const interpreters: ReadonlySet<string> = new Set(
  'awk bun deno gawk lua mawk node osascript perl php python ruby tclsh'.split(' '),
)

function denialOf(
  command: readonly ShellWord[],
  pattern: WordPattern,
  platform: NodeJS.Platform,
): Denial {
  const texts = command.map(({ text }) => text)
  const [program = '', ...rest] = texts
  if (fits(texts, pattern) || fits([baseName(program), ...rest], pattern)) return 'yes'
  const [first = '', ...others] = pattern.words
  const denied = { ...pattern, words: [programName(first, platform), ...others] }
  const unclear = command.some(({ text }, at) => {
    const words = command.slice(at)
    const name = programName(text, platform)
    return (
      runsOthers(name, words, at) ||
      mayMean([{ text: name, spread: false }, ...words.slice(1)], denied)
    )
  })
  return unclear ? 'unclear' : 'no'
}

/** An interpreter may be started by another program: `find . -exec sh -c …`. */
function runsOthers(name: string, [, next]: readonly ShellWord[], at: number): boolean {
  const plain = withoutEnd(name, '0123456789.')
  const told = next === undefined ? at === 0 : isOption(next)
  if (at === 0 && runners.has(plain)) return true
  return told && (runners.has(plain) || interpreters.has(plain))
}

/** Whether the words may come to what a pattern names once options are read and names are filled in. */
function mayMean(words: readonly ShellWord[], pattern: WordPattern): boolean {
  const texts = words.map(({ text }) => text)
  if (fits(texts, pattern)) return true
  for (const [place, word] of words.entries()) {
    const wanted = pattern.words[place]
    const rest = words.slice(place)
    if (wanted === undefined) return pattern.open
    if (wanted === '*') return rest.some(({ spread }) => spread)
    if (word.spread) return true
    if (wordFits(word.text, wanted)) continue
    if (place === 0) return false
    // Options stand in any order, may be joined or shortened, and may take the next word.
    if (wanted.startsWith('-')) return rest.some((one) => one.spread || isOption(one))
    return isOption(word) && rest.some((one) => !isOption(one))
  }
  return words.length >= pattern.words.length
}

function isOption({ text }: ShellWord): boolean {
  return /^[-+]/.test(text)
}

function baseName(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1)
}

/** Where names of files are found in any case, programs are too. */
function programName(program: string, platform: NodeJS.Platform): string {
  const name = baseName(program)
  if (platform === 'win32') return name.toLowerCase().replace(/\.(?:bat|cmd|com|exe)$/, '')
  return platform === 'darwin' ? name.toLowerCase() : name
}
