import {
  type Assignment,
  type Command,
  type CommandArgument,
  forEachChild,
  parse,
  type ParsedScript,
  type Redirection,
  type SyntaxNode,
  type Word,
  type WordPart,
} from 'unbash'

export interface ShellReading {
  /** Every command that the line can run; outer commands come before those inside them. */
  commands: readonly ShellCommand[]
  /**
   * Whether the list has every command. False after a syntax error, and if only the shell knows the
   * command: a program in a variable, or `sh` that reads a pipe. A guard then searches the text as well.
   */
  complete: boolean
  /**
   * Whether the line itself sets a variable or writes a file, by an assignment or a redirection. `/dev/null`
   * and other descriptors do not count.
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
}

/** Returns the commands of a line for a POSIX shell or bash. Runs nothing and never throws. */
export function readShellCommands(line: string): ShellReading {
  const reader = new ShellReader()
  reader.readText(line, [])
  const { commands, complete, changesState } = reader
  return { commands, complete, changesState }
}

/**
 * Why a command counts: by the shell's rules and the table of wrappers the line runs it (`runs`), it follows a
 * program that may run it (`arguments`), or a word may be its command line (`text`).
 */
export type CommandEvidence = 'runs' | 'arguments' | 'text'

export interface PossibleCommand extends ShellCommand {
  evidence: CommandEvidence
}

/**
 * Returns the commands of a line, and every place where an unlisted program may call a guarded one:
 * `poetry run git push`, `docker exec c sh -c "git push"`, `concurrently "git push"`. So a guard also asks
 * about `echo git push`. Lines for cmd and PowerShell are read a second time without
 * their escapes.
 *
 * Not detected: programs and arguments that exist only at run time, such as aliases, scripts in files, words
 * in other languages, and arguments from standard input. If the program itself is in a variable, `complete`
 * is false.
 * @param isGuarded whether a guard covers this program, by {@link programName}
 */
export function readPossibleCommands(
  line: string,
  isGuarded: (program: string) => boolean,
): { commands: readonly PossibleCommand[]; complete: boolean } {
  const reader = new ShellReader({ isGuarded, maxCharacters: maxCharacters(line) })
  reader.readText(line, [])
  const withoutEscapes = line.replaceAll(/[\^`]/g, '').replaceAll('\\', '/')
  const place = { start: 0, end: line.length }
  if (withoutEscapes !== line)
    reader.readAs('text', () => reader.readText(withoutEscapes, [], place))
  return { commands: reader.commands, complete: reader.complete }
}

/** Returns the program's name without its folder and without `.exe`. */
export function programName(word: Pick<ShellWord, 'text'> | undefined): string {
  return (word?.text ?? '').replace(/^.*[\\/](?=.)/s, '').replace(/\.(?:exe|cmd|bat)$/i, '')
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
const maxCharacters = (line: string): number => 50_000 + 10 * line.length

type Place = Pick<ShellCommand, 'start' | 'end'>

interface Setting {
  wrappers: readonly string[]
  /** The place of the command with the current text; undefined if the offsets refer to the line itself. */
  place?: Place | undefined
  /** Whether standard input is a pipe or a file. */
  isFed?: boolean
}

/** The standard input of a command. */
interface ShellInput {
  texts: readonly string[]
  isUnknown: boolean
}

interface InnerSetting {
  outer: readonly string[]
  facts: Omit<ShellCommand, 'words' | 'wrappers'>
  input: ShellInput
}

class ShellReader {
  readonly commands: PossibleCommand[] = []
  complete = true
  changesState = false
  #evidence: CommandEvidence = 'runs'
  readonly #isGuarded: ((program: string) => boolean) | undefined
  readonly #texts = new Set<string>()
  #charactersLeft: number

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
    if (this.#charactersLeft < 0) return this.stopReading()
    try {
      this.visit(parse(text), { wrappers: outer, place })
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

  private visit(node: SyntaxNode, setting: Setting): void {
    if (node.type === 'Script') this.noticeErrors(node)
    if (node.type === 'Command') this.readCommand(node, setting)
    if (changesState(node)) this.changesState = true
    let innerSetting = setting
    if ('script' in node) {
      if (node.script === undefined) this.giveUp()
      // Offsets in unescaped backticks refer to another text.
      const isMoved = node.script?.source !== undefined
      if (isMoved) innerSetting = { ...setting, place: setting.place ?? placeOf(node) }
    }
    if (node.type !== 'Pipeline')
      return forEachChild(node, (child) => this.visit(child, innerSetting))
    for (const [index, command] of node.commands.entries()) {
      this.visit(command, index === 0 ? innerSetting : { ...innerSetting, isFed: true })
    }
  }

  private noticeErrors({ errors = [] }: ParsedScript): void {
    if (errors.length > 0) this.giveUp()
  }

  private readCommand(node: Command, { wrappers: outer, place, isFed }: Setting): void {
    if (!node.name) return
    const words = [node.name, ...node.args].map(wordOf)
    const assignments = node.prefix.flatMap((part) => (part.type === 'Assignment' ? part.text : []))
    const redirections = node.redirects.flatMap(redirectionText)
    const command = { assignments, redirections, ...(place ?? placeOf(node)) }
    const isFile = node.redirects.some(
      ({ type, operator }) => type === 'Redirect' && operator === '<',
    )
    const input = { texts: node.redirects.flatMap(inputText), isUnknown: isFed === true || isFile }
    this.add(words, outer, command, input)
    if (this.#isGuarded) this.addPossible(words, outer, command, input, this.#isGuarded)
  }

  /** Adds the commands that any program could run: the words from one word on, and texts in words. */
  private addPossible(
    words: readonly ShellWord[],
    outer: readonly string[],
    facts: Omit<ShellCommand, 'words' | 'wrappers'>,
    input: ShellInput,
    isGuarded: (program: string) => boolean,
  ): void {
    let beginnings = 0
    const next = [...outer, programName(words[0])]
    const { start, end } = facts
    const texts = [...words.slice(1).flatMap(textsIn), ...input.texts]
    this.readAs('text', () => {
      for (const text of texts) this.readText(text, next, { start, end })
    })
    for (const [at, word] of words.entries()) {
      if (at === 0) continue
      const name = programName(word)
      if (!word.isConstant) this.giveUp()
      if (!isGuarded(name) && !runsText(name)) continue
      if (++beginnings > maxBeginnings) return this.stopReading()
      const command = words.slice(at)
      this.readAs('arguments', () => {
        if (isGuarded(name)) this.push({ ...facts, words: command, wrappers: next })
        this.addInner(name, command.slice(1), { outer: [...next, name], facts, input })
      })
    }
  }

  private push(command: ShellCommand): void {
    const isMeant = this.#evidence === 'runs' || this.#isGuarded?.(programName(command.words[0]))
    if (isMeant === true) this.commands.push({ ...command, evidence: this.#evidence })
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
    this.addInner(name, words.slice(1), { outer: [...outer, name], facts, input })
  }

  /** Adds the commands that a program runs from its arguments or its input. */
  private addInner(
    name: string,
    args: readonly ShellWord[],
    { outer, facts, input }: InnerSetting,
  ): void {
    const { start, end } = facts
    for (const inner of innerCommands(name, args)) {
      if ('words' in inner) this.add(inner.words, outer, { ...facts, assignments: [] }, input)
      else if ('text' in inner) {
        if (!inner.isConstant) this.giveUp()
        this.readText(inner.text, outer, { start, end })
      } else {
        if (input.isUnknown) this.giveUp()
        for (const text of input.texts) this.readText(text, outer, { start, end })
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

/** Returns the possible command lines in a word: the whole word, or the value of its option. */
function textsIn({ text }: ShellWord): string[] {
  if (!/[\s;&|()]/.test(text)) return []
  const values = /^-[^=]*=(.*)$/s.exec(text) ?? /^-[A-Za-z](.*)$/s.exec(text)
  return values?.[1] === undefined ? [text] : [text, values[1]]
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
  if (node.type === 'Word') return { text: node.value, isConstant: isConstant(node) }
  const text = node.text
  if (node.value.type !== 'Word' || node.index) return { text, isConstant: false }
  return { text: `${nameOf(node)}${node.value.value}`, isConstant: isConstant(node.value) }
}

function nameOf({ name, append }: Assignment): string {
  return `${name}${append === true ? '+' : ''}=`
}

function isConstant({ parts }: Word): boolean {
  return parts?.every(isConstantPart) ?? true
}

function isConstantPart(part: WordPart): boolean {
  if (part.type === 'DoubleQuoted' || part.type === 'LocaleString') {
    return part.parts.every(({ type }) => type === 'Literal')
  }
  return part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'AnsiCQuoted'
}

/** Nodes that set a variable. */
const setters: ReadonlySet<SyntaxNode['type']> = new Set(['Assignment', 'For', 'Select', 'Coproc'])

/** Whether a part of a line sets a variable or writes a file, apart from its commands. */
function changesState(node: SyntaxNode): boolean {
  if (node.type === 'ParameterExpansion') {
    return node.operation?.type === 'Default' && node.operation.operator.endsWith('=')
  }
  if (node.type !== 'Redirect') return setters.has(node.type)
  if (node.descriptor?.type === 'FileDescriptorVariable') return true
  const target = node.target?.value ?? ''
  if (node.operator.endsWith('&') && /^(?:\d+-?|-)$/.test(target)) return false
  return node.operator !== '<' && !/^\/dev\/(?:null|stdout|stderr)$/.test(target)
}

function redirectionText(node: Redirection): string[] {
  if (node.type !== 'Redirect') return []
  const { descriptor } = node
  const number = descriptor?.type === 'FileDescriptor' ? String(descriptor.value) : ''
  return [`${number}${node.operator}`, node.target?.value ?? '']
}

/** Returns the text of a here-document or here-string, which a shell runs. */
function inputText(node: Redirection): string[] {
  if (node.type === 'HereDoc') return [node.body.text]
  return node.type === 'HereString' && node.target ? [node.target.value] : []
}
