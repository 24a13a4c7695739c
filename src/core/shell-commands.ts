import {
  type Assignment,
  type Command,
  type CommandArgument,
  forEachChild,
  type ParameterOperation,
  parse,
  type ParsedScript,
  type Redirect,
  type Redirected,
  type Redirection,
  type SyntaxNode,
  type Word,
  type WordPart,
} from 'unbash'
import { withoutBraces } from './shell-braces.ts'

export interface ShellReading {
  /** Every command that the line can run; outer commands come before those inside them. */
  commands: readonly ShellCommand[]
  /**
   * Whether the list has every command. False after a syntax error, and if only the shell knows the
   * command: a program in a variable, or `sh` that reads a pipe. A guard then searches the text as well.
   */
  complete: boolean
  /** Whether reading stopped early, because the line is too long or has too many texts inside texts. */
  isTooLong: boolean
  /**
   * Whether the line itself sets a variable or writes a file, by an assignment, arithmetic or a redirection.
   * `/dev/null` and other descriptors do not count.
   */
  changesState: boolean
}

export interface ShellCommand {
  /** The program and its arguments, without assignments, redirections and quotes. At least one. */
  words: readonly ShellWord[]
  assignments: readonly string[]
  /** Operators and files, such as `2>&1`, without the text of a here-document. */
  redirections: readonly string[]
  /** The programs that run this command, from the outermost: `['sudo', 'env']`. Empty for the shell. */
  wrappers: readonly string[]
  /** UTF-16 offsets into the line. A command in the text of `sh -c` has the offsets of that `sh`. */
  start: number
  end: number
}

export interface ShellWord {
  /** Without quotes, but with unexpanded expansions. */
  text: string
  /** Whether the shell passes exactly this text: without variables, substitutions, globs and braces. */
  isConstant: boolean
  /** Unless it is constant: the text with `*` for each part that only the shell knows, as in `g*t` for `g$x"t"`. */
  pattern?: string
}

/** Returns the commands of a line for a POSIX shell or bash. Runs nothing and never throws. */
export function readShellCommands(line: string): ShellReading {
  const reader = new ShellReader()
  reader.readText(line, [])
  const { commands, complete, isTooLong, changesState } = reader
  return { commands, complete, isTooLong, changesState }
}

/**
 * Why a command counts: by the shell's rules and the table of wrappers the line runs it (`runs`), it follows a
 * program that may run it (`arguments`), or a word may be its command line (`text`).
 */
export type CommandEvidence = 'runs' | 'arguments' | 'text'

export interface PossibleCommand extends ShellCommand {
  evidence: CommandEvidence
}

export interface PossibleReading extends Pick<ShellReading, 'complete' | 'isTooLong'> {
  commands: readonly PossibleCommand[]
}

/**
 * Returns the commands of a line, and every place where an unlisted program may call a guarded one:
 * `poetry run git push`, `docker exec c sh -c "git push"`, `GIT_EDITOR='git push' git commit`. So a guard also
 * asks about `echo git push`. Lines for cmd and PowerShell are read a second time without their escapes.
 *
 * A command whose program only the shell knows is included: its pattern may be that of a guarded one. If the
 * program may be anything, `complete` is false. Not detected: what exists only at run time, such as aliases,
 * scripts in files, words in other languages, and arguments from standard input.
 * @param isGuarded whether a guard covers this program, by {@link programName}
 */
export function readPossibleCommands(
  line: string,
  isGuarded: (program: string) => boolean,
): PossibleReading {
  const reader = new ShellReader({ isGuarded, maxCharacters: maxCharacters(line) })
  reader.readText(line, [])
  const withoutEscapes = line.replaceAll(/[\^`]/g, '').replaceAll('\\', '/')
  const place = { start: 0, end: line.length }
  if (withoutEscapes !== line)
    reader.readAs('text', () => reader.readText(withoutEscapes, [], place))
  reader.readCopies()
  const { commands, complete, isTooLong } = reader
  return { commands, complete, isTooLong }
}

/** Returns the program's name without its folder, without `.exe`, and without zsh's `=` for the program's path. */
export function programName(word: Pick<ShellWord, 'text'> | undefined): string {
  return (word?.text ?? '')
    .replace(/^=(?=.)/, '')
    .replace(/^.*[\\/](?=.)/s, '')
    .replace(/\.(?:exe|cmd|bat)$/i, '')
}

/** How a program that runs another program reads its arguments (POSIX, GNU and BSD manuals). */
interface Wrapper {
  /** Options whose value is the next word, unless the value is attached. */
  valueOptions?: string
  /** Options whose value is the text of a command line. */
  text?: string
  /** Options with which the program runs nothing. */
  idle?: string
  /** Operands before the command; default none. */
  operands?: number
  /** The rest: a command's words (default), one text joined with spaces, its first word, or nothing. */
  rest?: 'words' | 'joined' | 'first' | 'nothing'
}

const account: Wrapper = {
  valueOptions: '-g -G -s -w --group --supp-group --shell --whitelist-environment',
  text: '-c --command --session-command',
  rest: 'nothing',
}

const wrappers: Readonly<Record<string, Wrapper | undefined>> = {
  builtin: {},
  busybox: {},
  caffeinate: { valueOptions: '-t -w' },
  chroot: { valueOptions: '--userspec --groups', operands: 1 },
  chrt: { valueOptions: '-T -P -D', idle: '-p --pid', operands: 1 },
  command: { idle: '-v -V' },
  doas: { valueOptions: '-a -C -u' },
  env: { valueOptions: '-u -C -P --unset --chdir', text: '-S --split-string' },
  eval: { rest: 'joined' },
  exec: { valueOptions: '-a' },
  fakeroot: { valueOptions: '-b -i -l -s --faked --lib' },
  flock: {
    valueOptions: '-w -E --timeout --conflict-exit-code',
    text: '-c --command',
    operands: 1,
  },
  gosu: { operands: 1 },
  ionice: { valueOptions: '-c -n --class --classdata', idle: '-p -P -u' },
  nice: { valueOptions: '-n --adjustment' },
  nohup: {},
  runuser: { ...account, valueOptions: `${account.valueOptions} -u --user`, rest: 'words' },
  script: { text: '-c --command', rest: 'nothing' },
  setsid: {},
  ssh: {
    valueOptions: '-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -P -p -Q -R -S -W -w',
    operands: 1,
    rest: 'joined',
  },
  stdbuf: { valueOptions: '-i -o -e --input --output --error' },
  strace: { valueOptions: '-a -E -e -I -o -O -p -P -s -S -u -U -X' },
  su: account,
  'su-exec': { operands: 1 },
  sudo: {
    valueOptions:
      '-C -D -g -h -p -R -r -T -t -U -u --close-from --chdir --group --host --prompt --chroot --role --command-timeout --type --other-user --user',
    idle: '-e -K -l -V -v --edit --list --remove-timestamp --validate --version',
  },
  taskset: { idle: '-p --pid', operands: 1 },
  time: { valueOptions: '-f -o --format --output' },
  timeout: { valueOptions: '-k -s --kill-after --signal', operands: 1 },
  trap: { idle: '-l -p', rest: 'first' },
  unbuffer: {},
  watch: { valueOptions: '-n -q --interval --equexit', rest: 'joined' },
  winpty: {},
  xargs: {
    valueOptions:
      '-a -d -E -I -J -L -n -P -R -S -s --arg-file --delimiter --max-args --max-chars --max-procs --process-slot-var',
  },
}

const shells = /^(?:sh|ash|bash|dash|fish|ksh|mksh|rbash|yash|zsh)$/
/** Without `-c`, because its text is not an option's value but the first operand. */
const shellOptions = '-o -O --rcfile --init-file'
const findActions = /^-(?:exec|execdir|ok|okdir)$/
const assignment = /^[A-Za-z_]\w*\+?=/
/** Maximum depth of texts inside texts, such as `sh -c "sh -c …"`. */
const deepest = 12
/** Maximum number of words in one command that can start another command. */
const maxBeginnings = 100
/** Maximum characters of all texts that a guard reads in a line: the time must grow only with the line. */
const maxCharacters = (line: string): number => 500_000 + 10 * line.length
/**
 * Maximum steps for one line, whatever its length: a client that waits too long for a hook continues without it.
 * A step is a part of the syntax, a word of a command, or some characters of a text.
 */
const maxSteps = 400_000
/** The parser reads this many characters in about the time of a step. */
const charactersOfStep = 10
/** Maximum characters that are parsed at once. Linux passes no argument of more than 131,072 bytes to a program. */
const longestText = 250_000

type Place = Pick<ShellCommand, 'start' | 'end'>

interface Setting {
  wrappers: readonly string[]
  /** The place of the command with the current text; undefined if the offsets refer to the line itself. */
  place?: Place | undefined
  /** The standard input of the commands inside. */
  input: ShellInput
}

/** The standard input of a command. */
interface ShellInput {
  texts: readonly InputText[]
  /** Whether it is a pipe or a file. */
  isUnknown: boolean
}

/** The text of a here-document or here-string. Several commands can have the same one as their input. */
interface InputText {
  text: string
}

const noInput: ShellInput = { texts: [], isUnknown: false }
const unknownInput: ShellInput = { texts: [], isUnknown: true }

interface InnerSetting {
  outer: readonly string[]
  facts: Omit<ShellCommand, 'words' | 'wrappers'>
  input: ShellInput
}

class ShellReader {
  readonly commands: PossibleCommand[] = []
  complete = true
  isTooLong = false
  changesState = false
  #evidence: CommandEvidence = 'runs'
  readonly #isGuarded: ((program: string) => boolean) | undefined
  readonly #texts = new Set<string>()
  readonly #inputs = new Map<InputText, CommandEvidence[]>()
  readonly #functions = new Set<string>()
  #hasAlias = false
  readonly #copies: Copy[] = []
  #charactersLeft: number
  #stepsLeft = maxSteps

  /** @param guard makes the reader include possible commands */
  constructor(guard?: { isGuarded: (program: string) => boolean; maxCharacters: number }) {
    this.#isGuarded = guard?.isGuarded
    this.#charactersLeft = guard?.maxCharacters ?? Infinity
  }

  /** Limits the evidence of the commands inside to `evidence`. */
  readAs(evidence: CommandEvidence, read: () => void): void {
    const outerEvidence = this.#evidence
    if (outerEvidence !== 'text') this.#evidence = evidence
    read()
    this.#evidence = outerEvidence
  }

  readText(text: string, outer: readonly string[], place?: Place): void {
    if (outer.length > deepest) return this.stopReading()
    if (this.#isGuarded) {
      // Several programs before a word can have the word as their text.
      const key = `${this.#evidence} ${text}`
      if (this.#texts.has(key)) return
      this.#texts.add(key)
    }
    this.#charactersLeft -= text.length
    if (this.#charactersLeft < 0 || text.length > longestText) return this.giveUpLine()
    if (!this.takeSteps(text.length / charactersOfStep)) return
    try {
      this.visit(parse(text), { wrappers: outer, place, input: noInput })
    } catch {
      this.giveUp()
    }
  }

  /** Notes an unreadable part. A word that only may be a command line does not count. */
  private giveUp(): void {
    if (this.#evidence !== 'text') this.complete = false
  }

  /** Notes that the rest of a text is not read. */
  private stopReading(): void {
    this.complete = false
  }

  private giveUpLine(): void {
    this.isTooLong = true
    this.stopReading()
  }

  /** Returns whether the line may be read further, after this many steps. */
  private takeSteps(count: number): boolean {
    this.#stepsLeft -= count
    if (this.#stepsLeft < 0) this.giveUpLine()
    return this.#stepsLeft >= 0
  }

  private visit(node: SyntaxNode, setting: Setting): void {
    const characters = isParsedAgain(node) ? node.end - node.pos : 0
    if (!this.takeSteps(1 + characters / charactersOfStep)) return
    if (node.type === 'Script') this.noticeErrors(node)
    if (node.type === 'Command') this.readCommand(node, setting)
    if (changesState(node)) this.changesState = true
    this.readValues(node, setting)
    if (node.type === 'Function') this.#functions.add(node.name.value)
    let innerSetting = setting
    if ('script' in node) {
      if (node.script === undefined) this.giveUp()
      // Offsets in unescaped backticks refer to another text.
      const isMoved = node.script?.source !== undefined
      if (isMoved) innerSetting = { ...setting, place: setting.place ?? placeOf(node) }
    }
    if (readsFromElsewhere(node)) innerSetting = { ...innerSetting, input: unknownInput }
    if (node.type === 'Redirected') innerSetting = this.enterRedirected(node, innerSetting)
    if (node.type !== 'Pipeline')
      return forEachChild(node, (child) => this.visit(child, innerSetting))
    for (const [index, command] of node.commands.entries()) {
      this.visit(command, index === 0 ? innerSetting : { ...innerSetting, input: unknownInput })
    }
  }

  /** The commands in `{ sh; } <<E` and `while …; done < file` share this input. Any of them may run it. */
  private enterRedirected({ redirects, pos, end }: Redirected, setting: Setting): Setting {
    const input = inputOf(redirects, setting.input)
    if (this.#isGuarded && input !== setting.input) {
      const place = setting.place ?? { start: pos, end }
      this.readAs('text', () => this.readInput(input, setting.wrappers, place))
    }
    return { ...setting, input }
  }

  /** Reads each text once, however many commands have it as their input. */
  private readInput({ texts }: ShellInput, outer: readonly string[], place: Place): void {
    for (const one of texts) {
      const readings = this.#inputs.get(one) ?? []
      if (readings.includes(this.#evidence)) continue
      this.#inputs.set(one, [...readings, this.#evidence])
      const isProgramText = this.#evidence !== 'text'
      const texts = isProgramText ? [one.text] : inputLines(one.text)
      for (const text of texts) this.readText(text, outer, place)
    }
  }

  /** A program may run the values of a variable: `GIT_EDITOR='git push' git commit`. */
  private readValues(node: SyntaxNode, { wrappers: outer, place }: Setting): void {
    const isGuarded = this.#isGuarded
    const values = isGuarded ? valuesIn(node) : []
    if (!isGuarded || values.length === 0) return
    const texts = values.flatMap((one) => textsIn(wordOf(one), isGuarded))
    const all = values.length > 1 ? [values.map(({ value }) => value).join(' ')] : []
    this.readAs('text', () => {
      for (const text of [...texts, ...all]) this.readText(text, outer, place ?? placeOf(node))
    })
  }

  /** A text is only copied into a file unless the line gives the name of the program another meaning. */
  readCopies(): void {
    for (const { name, texts, outer, place } of this.#copies) {
      if (!this.#hasAlias && !this.#functions.has(name)) continue
      this.readAs('text', () => {
        for (const text of texts) this.readText(text, outer, place)
      })
    }
  }

  private noticeErrors({ errors = [] }: ParsedScript): void {
    if (errors.length > 0) this.giveUp()
  }

  private readCommand(node: Command, setting: Setting): void {
    const { wrappers: outer, place } = setting
    if (!node.name) return
    const args = [node.name, ...node.args]
    const words = args.map(wordOf)
    const assignments = node.prefix.flatMap((part) => (part.type === 'Assignment' ? part.text : []))
    const redirections = node.redirects.flatMap(redirectionText)
    const command = { assignments, redirections, ...(place ?? placeOf(node)) }
    const input = inputOf(node.redirects, setting.input)
    this.add(words, outer, command, input)
    if (!this.#isGuarded) return
    const isCopy = isOnlyCopied(node, words)
    this.addPossible(words, outer, command, { input, isCopy }, this.#isGuarded)
    const line = withoutBraces(args)
    if (line !== undefined) this.readAs('arguments', () => this.readText(line, outer, command))
  }

  /** Adds the commands that any program could run: the words from one word on, and texts in words. */
  private addPossible(
    words: readonly ShellWord[],
    outer: readonly string[],
    facts: Omit<ShellCommand, 'words' | 'wrappers'>,
    { input, isCopy }: { input: ShellInput; isCopy: boolean },
    isGuarded: (program: string) => boolean,
  ): void {
    let beginnings = 0
    const name = programName(words[0])
    const next = [...outer, name]
    const place = { start: facts.start, end: facts.end }
    const texts = words.slice(1).flatMap((word) => textsIn(word, isGuarded))
    if (isCopy) {
      this.#copies.push({
        name,
        texts: [...texts, ...input.texts.flatMap(({ text }) => inputLines(text))],
        outer: next,
        place,
      })
    } else {
      this.readAs('text', () => {
        for (const text of texts) this.readText(text, next, place)
        this.readInput(input, next, place)
      })
    }
    for (const [at, word] of words.entries()) {
      if (at === 0) continue
      const inner = programName(word)
      if (!word.isConstant) this.giveUp()
      const isPartial = word.pattern !== undefined && /[^*]/.test(word.pattern)
      if (!isGuarded(inner) && !runsText(inner) && !isPartial) continue
      if (++beginnings > maxBeginnings) return this.stopReading()
      const command = words.slice(at)
      this.readAs('arguments', () => {
        if (isGuarded(inner) || isPartial) this.push({ ...facts, words: command, wrappers: next })
        this.addInner(inner, command.slice(1), { outer: [...next, inner], facts, input })
      })
    }
  }

  private push(command: ShellCommand): void {
    if (!this.takeSteps(command.words.length)) return
    const [program] = command.words
    const mayBeMeant = program?.isConstant === false || this.#isGuarded?.(programName(program))
    const isMeant = this.#evidence === 'runs' || mayBeMeant === true
    if (isMeant) this.commands.push({ ...command, evidence: this.#evidence })
  }

  /** Adds a command, and the commands that it runs. */
  private add(
    words: readonly ShellWord[],
    outer: readonly string[],
    facts: Omit<ShellCommand, 'words' | 'wrappers'>,
    input: ShellInput,
  ): void {
    const [program] = words
    if (program === undefined) return
    this.push({ words, wrappers: outer, ...facts })
    if (!program.isConstant) this.giveUp()
    if (outer.length > deepest) return this.stopReading()
    const name = programName(program)
    if (name === 'alias') this.#hasAlias = true
    this.addInner(name, words.slice(1), { outer: [...outer, name], facts, input })
  }

  /** Adds the commands that a program runs from its arguments or its input. */
  private addInner(
    name: string,
    args: readonly ShellWord[],
    { outer, facts, input }: InnerSetting,
  ): void {
    if (!this.takeSteps(args.length)) return
    const { start, end } = facts
    for (const inner of innerCommands(name, args)) {
      if ('words' in inner) this.add(inner.words, outer, { ...facts, assignments: [] }, input)
      else if ('text' in inner) {
        if (!inner.isConstant) this.giveUp()
        this.readText(inner.text, outer, { start, end })
      } else {
        if (input.isUnknown) this.giveUp()
        this.readInput(input, outer, { start, end })
      }
    }
  }
}

/** A program's inner command: its words, the text of a command line, or the text on standard input. */
type InnerCommand =
  | { words: readonly ShellWord[] }
  | { text: string; isConstant: boolean }
  | { input: true }

/** Whether a program reads a command line from its arguments or its input. */
function runsText(name: string): boolean {
  const isListed = Object.hasOwn(wrappers, name) || shells.test(name)
  return isListed || /^(?:find|cmd|powershell|pwsh)$/i.test(name)
}

/** A text that a program copies into a file. */
interface Copy {
  name: string
  texts: readonly string[]
  outer: readonly string[]
  place: Place
}

/** Programs that do nothing with their input but copy it. */
const copying: ReadonlySet<string> = new Set(['cat', 'tee'])

/** Whether a command only writes its texts into files: `cat > notes.md <<E`. */
function isOnlyCopied({ redirects }: Command, words: readonly ShellWord[]): boolean {
  const [program, ...args] = words
  const name = program?.text ?? ''
  // Its output has only the names of the files in the patch.
  if (name === 'apply_patch') return true
  if (!copying.has(name) || !args.every(isPlainFile)) return false
  const outputs = redirects.filter(isOutput)
  return (
    outputs.length > 0 &&
    outputs.every(({ operator, target }) => {
      return operator !== '>&' && target !== undefined && isPlainFile(wordOf(target))
    })
  )
}

/** Whether a redirection is about standard output. */
function isOutput(node: Redirection): node is Redirect {
  if (node.type !== 'Redirect' || node.operator.startsWith('<')) return false
  return node.descriptor?.type !== 'FileDescriptor' || node.descriptor.value === 1
}

/** Whether a word is certainly an option or an ordinary file, not a descriptor or a process. */
function isPlainFile({ text, isConstant: isText }: ShellWord): boolean {
  if (!isText) return false
  return text === '/dev/null' || !/(?:^|\/)(?:dev|proc)(?:\/|$)/.test(text)
}

/** How many values a word may have one inside of the other: `--config=core.editor=VALUE`. */
const maxValues = 3

/** Signs with which programs mark a command line, as in `alias.x=!git push` and `:!git push`. */
const mark = /^[^\p{L}\p{N}\s"'$(`{._~/\\-]+/u

/** Returns an input, and the same without the marks of its lines: `!git push` for `ed`. */
function inputLines(text: string): string[] {
  return withVariant(text, text.split('\n').map(withoutMark).join('\n'))
}

/** Returns a line without its mark. What a blank follows is the sign of a comment or a list. */
function withoutMark(line: string): string {
  const start = line.trimStart()
  const rest = start.replace(mark, '')
  return rest === start || /^\s/.test(rest) ? line : rest
}

function withVariant(text: string, variant: string): string[] {
  return variant === text ? [text] : [text, variant]
}

/** Returns the possible command lines in a word: the whole word, and the values in it. */
function textsIn({ text }: ShellWord, isGuarded: (program: string) => boolean): string[] {
  const attached = /^-[A-Za-z](.*)$/s.exec(text)?.[1]
  const values = attached === undefined ? [] : [attached]
  for (let at = text.indexOf('='); at >= 0; at = text.indexOf('=', at + 1)) {
    if (values.length > maxValues) break
    values.push(text.slice(at + 1))
  }
  const isLine = (one: string): boolean => /[\s;&|(){]/.test(one)
  const lines = [text, ...values].filter(
    (one, index) => isLine(one) || (index > 0 && isGuarded(programName({ text: one }))),
  )
  return lines.flatMap((one) => withVariant(one, one.replace(mark, '')))
}

function innerCommands(name: string, args: readonly ShellWord[]): InnerCommand[] {
  if (shells.test(name)) return shellText(args)
  if (name === 'find') return findCommands(args)
  if (/^cmd$/i.test(name)) return joinedAfter(args, /^\/{1,2}[ck]$/i)
  if (/^(?:powershell|pwsh)$/i.test(name))
    return joinedAfter(args, /^-c(?:o(?:m(?:mand|m|ma|man)?)?)?$/i)
  const wrapper = Object.hasOwn(wrappers, name) ? wrappers[name] : undefined
  if (wrapper) return wrappedCommands(wrapper, args)
  // Many programs that run others use `--`: `op run -- terraform apply`.
  const end = args.findIndex(({ text }) => text === '--')
  return end < 0 ? [] : [{ words: args.slice(end + 1) }]
}

function wrappedCommands(wrapper: Wrapper, args: readonly ShellWord[]): InnerCommand[] {
  const { rest = 'words', operands = 0 } = wrapper
  const { options, values, at } = readOptions(args, wrapper)
  if (options.some((option) => wordsIn(wrapper.idle).includes(option))) return []
  const split = values.length > 0 ? values : undefined
  const first = rest === 'nothing' ? at : afterOperands(args, at, operands, rest === 'words')
  const remaining = args.slice(first)
  if (split) {
    // `env -S` also uses the words after the text; `su -c` and `flock FILE -c` do not.
    return wrapper === wrappers['env']
      ? [joinWords([...split, ...remaining])]
      : split.map((one) => joinWords([one]))
  }
  if (rest === 'nothing') return textOptions(wrapper, args)
  if (rest === 'first') return remaining.slice(0, 1).map((one) => joinWords([one]))
  if (remaining.length === 0) return []
  const [{ text: next } = { text: '' }, value] = remaining
  if (value && wordsIn(wrapper.text).includes(next)) return [joinWords([value])]
  return [rest === 'joined' ? joinWords(remaining) : { words: remaining }]
}

/** Returns the index after the operands and the assignments: `sudo A=1 git push`, `env A=1 git push`. */
function afterOperands(
  args: readonly ShellWord[],
  from: number,
  operands: number,
  mayAssign: boolean,
): number {
  let remainingOperands = operands
  for (let at = from; at < args.length; at++) {
    if (mayAssign && assignment.test(args[at]?.text ?? '')) continue
    if (remainingOperands === 0) return at
    remainingOperands--
  }
  return args.length
}

/** Reads options after operands: `su NAME -c TEXT`. */
function textOptions(wrapper: Wrapper, args: readonly ShellWord[]): InnerCommand[] {
  return args.flatMap(({ text }, index) => {
    const value = args[index + 1]
    return value && wordsIn(wrapper.text).includes(text) ? [joinWords([value])] : []
  })
}

/** Reads options up to the first operand, or up to `--`. */
function readOptions(args: readonly ShellWord[], { valueOptions, text }: Wrapper) {
  const [withValue, withText] = [wordsIn(valueOptions), wordsIn(text)]
  const options: string[] = []
  const values: ShellWord[] = []
  let at = 0
  for (; at < args.length; at++) {
    const word = args[at]
    if (!word || !/^[-+]./.test(word.text)) {
      if (word?.text === '-') continue
      break
    }
    if (word.text === '--') {
      at++
      break
    }
    const { name, attached, all } = optionOf(word.text, [...withValue, ...withText])
    options.push(...all)
    if (name === undefined) continue
    const value = attached === undefined ? args[++at] : { ...word, text: attached }
    if (value && withText.includes(name)) values.push(value)
  }
  return { options, values, at }
}

/** Returns the options in one word, and the one that takes a value, with an attached value. */
function optionOf(text: string, valueOptions: readonly string[]) {
  if (text.startsWith('--')) {
    const equals = text.indexOf('=')
    const name = equals < 0 ? text : text.slice(0, equals)
    const attachedValue = equals < 0 ? undefined : text.slice(equals + 1)
    return {
      name: valueOptions.includes(name) ? name : undefined,
      attached: attachedValue,
      all: [name],
    }
  }
  const names: string[] = []
  for (let index = 1; index < text.length; index++) {
    const name = `-${text.charAt(index)}`
    names.push(name)
    if (!valueOptions.includes(name)) continue
    const attachedValue = text.slice(index + 1)
    return { name, attached: attachedValue === '' ? undefined : attachedValue, all: names }
  }
  return { name: undefined, attached: undefined, all: names }
}

function shellText(args: readonly ShellWord[]): InnerCommand[] {
  const { options, at } = readOptions(args, { valueOptions: shellOptions })
  const operand = args[at]
  if (options.includes('-c')) return operand ? [joinWords([operand])] : []
  return operand === undefined || options.includes('-s') ? [{ input: true }] : []
}

/** Returns the commands of `find . -exec CMD {} \;`. */
function findCommands(args: readonly ShellWord[]): InnerCommand[] {
  return args.flatMap(({ text }, index) => {
    if (!findActions.test(text)) return []
    const rest = args.slice(index + 1)
    const end = rest.findIndex((one) => one.text === ';' || one.text === '+')
    return [{ words: end < 0 ? rest : rest.slice(0, end) }]
  })
}

function joinedAfter(args: readonly ShellWord[], option: RegExp): InnerCommand[] {
  const at = args.findIndex(({ text }) => option.test(text))
  return at < 0 || at + 1 === args.length ? [] : [joinWords(args.slice(at + 1))]
}

function joinWords(words: readonly ShellWord[]): InnerCommand {
  const isConstant = words.every((word) => word.isConstant)
  return { text: words.map(({ text }) => text).join(' '), isConstant }
}

function wordsIn(list: string | undefined): string[] {
  return list?.split(' ') ?? []
}

function placeOf({ pos, end }: { pos: number; end: number }): Place {
  return { start: pos, end }
}

function wordOf(node: CommandArgument): ShellWord {
  if (node.type === 'Word') return shellWord(node, '')
  const { text, value, index } = node
  if (value.type !== 'Word' || index) return { text, isConstant: false, pattern: '*' }
  return shellWord(value, nameOf(node))
}

function nameOf({ name, append }: Assignment): string {
  return `${name}${append === true ? '+' : ''}=`
}

function shellWord({ value, parts = [] }: Word, before: string): ShellWord {
  const text = `${before}${value}`
  const texts = parts.flatMap(knownTexts)
  if (!texts.includes(undefined)) return { text, isConstant: true }
  return { text, isConstant: false, pattern: `${before}${texts.map((one) => one ?? '*').join('')}` }
}

/** Returns the texts of a part of a word; undefined for each one that only the shell knows. */
function knownTexts(part: WordPart): (string | undefined)[] {
  if (part.type === 'DoubleQuoted' || part.type === 'LocaleString') {
    return part.parts.map((inner) => (inner.type === 'Literal' ? inner.value : undefined))
  }
  const isKnown =
    part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'AnsiCQuoted'
  return [isKnown ? part.value : undefined]
}

/** Returns the words that a part of a line assigns to a variable. */
function valuesIn(node: SyntaxNode): readonly Word[] {
  if (node.type === 'Assignment') {
    return node.value.type === 'Word' ? [node.value] : node.value.elements
  }
  return node.type === 'For' || node.type === 'Select' ? (node.wordlist ?? []) : []
}

/** Nodes that set a variable. */
const setters: ReadonlySet<SyntaxNode['type']> = new Set([
  'Assignment',
  'For',
  'ArithmeticFor',
  'Select',
  'Coproc',
])

/** Whether a part of a line sets a variable or writes a file, apart from its commands. */
function changesState(node: SyntaxNode): boolean {
  if (arithmeticIn(node).some(mayAssign)) return true
  if (node.type === 'ParameterExpansion')
    return node.operation !== undefined && sets(node.operation)
  if (node.type !== 'Redirect') return setters.has(node.type)
  if (node.descriptor?.type === 'FileDescriptorVariable') return true
  const target = node.target?.value ?? ''
  if (node.operator.endsWith('&') && /^(?:\d+-?|-)$/.test(target)) return false
  return node.operator !== '<' && !/^\/dev\/(?:null|stdout|stderr)$/.test(target)
}

function sets(operation: ParameterOperation): boolean {
  if (operation.type === 'Default') return operation.operator.endsWith('=')
  // `P` expands the value as a prompt, with all substitutions in it. The other transformations only rewrite it.
  if (operation.type === 'Transform') return !/^[QEUuLAaKk]$/.test(operation.operand.value)
  return operation.type === 'Unknown'
}

/** Returns the texts in a part of a line, without those of its inner parts, that bash evaluates as arithmetic. */
function arithmeticIn(node: SyntaxNode): string[] {
  const words: (Word | undefined)[] = []
  if (node.type === 'ArithmeticCommand') return [node.body]
  if (node.type === 'ArithmeticExpansion') return [node.text.slice(2)]
  if (node.type === 'ParameterExpansion') words.push(node.index)
  if (node.type === 'Slice') words.push(node.offset, node.length)
  if (node.type === 'TestUnary' && node.operator === '-v') words.push(node.operand)
  if (node.type === 'TestBinary' && /^-(?:eq|ne|lt|le|gt|ge)$/.test(node.operator)) {
    words.push(node.left, node.right)
  }
  return words.flatMap((word) => word?.value ?? [])
}

/** Whether arithmetic may set a variable, also by the output of a command in it. */
function mayAssign(text: string): boolean {
  const withoutComparisons = text.replaceAll(/[=!]=|(?<![<>])[<>]=/g, ' ')
  return /=|\+\+|--|`|\$\((?!\()/.test(withoutComparisons)
}

function redirectionText(node: Redirection): string[] {
  if (node.type !== 'Redirect') return []
  const { descriptor } = node
  const number = descriptor?.type === 'FileDescriptor' ? String(descriptor.value) : ''
  return [`${number}${node.operator}`, node.target?.value ?? '']
}

/** Whether the parser reads the characters of a part again for the parts in it, at each depth. */
function isParsedAgain({ type }: SyntaxNode): boolean {
  return type === 'ProcessSubstitution' || (type.endsWith('Expansion') && type !== 'BraceExpansion')
}

/** Whether the commands in a part of a line read what something else writes, or what a later call passes. */
function readsFromElsewhere(node: SyntaxNode): boolean {
  if (node.type === 'ProcessSubstitution') return node.operator === '>'
  return node.type === 'Function' || node.type === 'Coproc'
}

/** Returns the standard input after redirections. */
function inputOf(redirects: readonly Redirection[], outer: ShellInput): ShellInput {
  const texts = redirects.flatMap(inputText)
  const isFile = redirects.some((one) => one.type === 'Redirect' && one.operator.startsWith('<'))
  return texts.length > 0 || isFile ? { texts, isUnknown: isFile } : outer
}

/** Returns the text of a here-document or here-string, which a shell runs. */
function inputText(node: Redirection): InputText[] {
  if (node.type === 'HereDoc') return [{ text: node.body.text }]
  return node.type === 'HereString' && node.target ? [{ text: node.target.value }] : []
}
