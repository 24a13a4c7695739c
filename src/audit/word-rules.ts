import type { AuditCode } from './rules.ts'

interface WordRule {
  code: AuditCode
  says: string
  /** What the fact is about; default: the first group that matched. */
  subject?: string
  /** Every quantifier has an upper bound, so that no text makes a pattern slow. */
  patterns: readonly RegExp[]
  /** What must occur at most {@link nearby} characters before or after. */
  near?: RegExp
  /** A line that matches this says the opposite. */
  unless?: RegExp
}

/**
 * Makes a pattern from a text without escapes, in which `…80` is up to 80 characters of one line.
 */
function patternTag(flags: string, blank = ' ') {
  return ({ raw }: TemplateStringsArray, ...parts: string[]): RegExp => {
    const text = String.raw({ raw }, ...parts).replaceAll(' ', blank)
    return new RegExp(text.replaceAll(/…(\d+)/g, String.raw`[^\n]{0,$1}`), flags)
  }
}

const files = patternTag('gm')

/**
 * Words that a shell would start: at the beginning of a line, or after a character that ends a
 * command.
 */
const command: typeof files = ({ raw }, ...parts) =>
  files`(?<=^|[\s\`($|;&"'])${String.raw({ raw }, ...parts)}`

const packageCommands = [
  'npm (?:install|i|ci|exec)|npx|pnpm (?:add|install|dlx)|yarn (?:add|dlx)|bunx?|bun add',
  'pip3? install|pipx (?:install|run)|uv (?:add|pip)|uvx|poetry add|conda install',
  'brew install|apt(?:-get)? install|apk add|dnf install|yum install|pacman -S|gem install',
  'cargo install|go install|dotnet (?:tool install|add)|winget install|choco install',
  'composer require|claude plugin install|skills add',
].join('|')

/** Rules for what a text can do. */
const capabilities: readonly WordRule[] = [
  {
    code: 'network-call',
    says: 'talks to the network',
    patterns: [
      command`(curl|wget|nc|ncat|netcat|telnet|ssh|scp|sftp|rsync)(?= {1,9}[-\w"'$./~@])`,
      files`\b(fetch|urlopen|urlretrieve|createConnection)\(`,
      files`\b(requests|httpx|axios)\.(?:get|post|put|patch|delete|request|head)\(`,
      files`\b(aiohttp|urllib\.request|http\.client|XMLHttpRequest|WebSocket)\b`,
      files`\b(socket\.socket|net\.connect|https?\.(?:get|request))\(`,
      files`\b(Invoke-WebRequest|Invoke-RestMethod|Net\.WebClient|TcpClient)\b`,
      files`(/dev/tcp/)`,
    ],
  },
  {
    code: 'credential-variable',
    says: 'reads a variable named like a secret',
    patterns: [
      files`(?:\$\{?|\benv\.|\benv\[["']|\bgetenv\(["']|\benviron(?:\.get\(|\[)["']|\$env:)([A-Z][A-Z0-9_]{0,60}(?:TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIALS))\b`,
    ],
  },
  {
    code: 'credential-file',
    says: 'names a file with credentials',
    patterns: [
      files`(\.ssh/|\bid_(?:rsa|ed25519)\b|\.aws/|\.netrc\b|\.npmrc\b|\.pypirc\b|\.kube/config|\.docker/config\.json|\.git-credentials|\.config/gcloud|\.config/gh/|\.gnupg\b|/etc/shadow\b|/etc/passwd\b|Login Data\b|login\.keychain|wallet\.dat)`,
      files`(?<=^|[\s\`"'/(])(\.env(?:\.(?:local|dev|development|prod|production|staging|test))?)(?![\w([]|\.\w)`,
    ],
  },
  {
    code: 'shell-execution',
    says: 'starts programs',
    patterns: [
      files`\b(subprocess|os\.system|os\.popen|os\.exec[lv]p?e?|pty\.spawn)\b`,
      files`\b(child_process|execSync|spawnSync|execFile|Deno\.Command|Bun\.spawn)\b`,
      files`\b(Runtime\.getRuntime|ProcessBuilder|Process\.Start|Start-Process)\b`,
      command`((?:ba|z|da)?sh -l?c|cmd(?:\.exe)? /c|powershell|pwsh)(?= )`,
    ],
  },
  {
    code: 'evaluation',
    says: 'runs text as code',
    patterns: [
      files`(?<![\w.])(eval|new Function|execfile|compile)\((?!\))`,
      command`(eval) ["'$\`]`,
      files`(?<![\w.])(exec)\((?=["'a-z])`,
      files`\b(Invoke-Expression|iex)\b(?= )`,
      files`\b(pickle\.loads?|marshal\.loads|yaml\.unsafe_load|vm\.runIn\w{1,20})\(`,
    ],
  },
  {
    code: 'package-install',
    says: 'installs or fetches packages',
    patterns: [command`(${packageCommands})(?= {1,9}[-\w"'@$./])`],
  },
  {
    code: 'persistence',
    says: 'starts something later or again',
    patterns: [
      files`(\bcrontab\b|/etc/cron\.|\blaunchctl\b|LaunchAgents|LaunchDaemons|systemctl (?:--user )?enable|/etc/systemd|\.config/autostart|\bschtasks\b|CurrentVersion\\{1,2}Run|\.git/hooks|/etc/rc\.local|authorized_keys|\.(?:bashrc|bash_profile|zshrc|zprofile|zshenv)\b|[~/]\.profile\b|\$PROFILE\b)`,
    ],
  },
  {
    code: 'privilege',
    says: 'raises or loosens permissions',
    patterns: [
      command`(sudo|doas|setcap|chown root|runas)(?= )`,
      files`\b(chmod (?:777|\+s|u\+s|a\+rwx|4[0-7]{3}))\b`,
      files`(--dangerously-skip-permissions|--dangerously-bypass-approvals-and-sandbox|bypassPermissions|--no-sandbox|--privileged|--yolo\b|--allow-all-tools|Set-ExecutionPolicy)`,
    ],
  },
  {
    code: 'deletion',
    says: 'deletes or overwrites',
    patterns: [
      command`(rm -(?:rf|fr|r -f|f -r)|mkfs|shred|dd if=|Remove-Item -Recurse)\b`,
      files`\b(shutil\.rmtree|rimraf|git push (?:--force|-f)|git reset --hard|git clean -\w{1,8})\b`,
      files`\b(DROP (?:TABLE|DATABASE|SCHEMA)|TRUNCATE TABLE)\b`,
    ],
  },
  {
    code: 'agent-configuration',
    says: 'names the configuration of an agent client',
    patterns: [
      files`("mcpServers"|\[mcp_servers\.[\w-]{1,60}\]|\b(?:claude|codex|gemini) mcp add\b)`,
      files`(\.claude/settings(?:\.local)?\.json|\.claude\.json|\.codex/config\.toml|\.gemini/settings\.json|\.cursor/(?:mcp|hooks)\.json|\.vscode/(?:settings|tasks|mcp)\.json|opencode\.jsonc?\b)`,
    ],
  },
]

/**
 * The beginning of a path in a home directory: `~/`, `$HOME/`, `os.homedir() + '/`, and Python's
 * `Path.home() / "`.
 */
const home = String.raw`(?:~|\$\{?HOME\}?|\bHOME\}?|homedir\(\)|\.home\(\)|/root|/home/\w{1,32})[\s/"'+,)]{1,8}`

/** Files that contain only secrets; public keys and settings next to them do not count. */
const secretFile = String.raw`(?:\.ssh(?:/(?!config\b|known_hosts\b|[\w*]{1,40}\.pub\b)|\b(?!/))|\.aws(?:/credentials|/\*|\b(?!/))|\.netrc|\.npmrc|\.pypirc|\.git-credentials|\.gnupg|\.kube/config|\.docker/config\.json|\.config/(?:gh/hosts|gcloud))`

const systemSecret = String.raw`/etc/shadow\b|\bLogin Data\b|\bCookies\.sqlite\b|login\.keychain|\bwallet\.dat\b`

const reading = String.raw`\b(?:cat|less|head|tail|cp|scp|tar|zip|rsync|base64|xxd|read|copy|upload|include|send|paste|print|dump|open|readFile|readFileSync|read_text|for \w{1,20} in)\b`

/** Programs that run what they read from stdin, unless an argument is the program. */
const interpreter = String.raw`(?:sudo (?:-\w{1,4} )?)?(?:/(?:usr/)?bin/)?(?:(?:ba|z|da|k)?sh|python[\d.]{0,4}|node|perl|ruby|php)\b(?! {1,4}-[cemE]\b)`

const shell = String.raw`(?:ba|z|da)?sh`
const fetching = String.raw`\b(?:curl|wget)\b`
const pythonFetch = String.raw`(?:urlopen|requests\.get|httpx\.get)\(`

/** Calls that send data, and do not only ask for something. */
const sending =
  /\b(?:requests|httpx|axios|session|client)\.(?:post|put)\(|\burlopen\(|method['"]?\s{0,3}[:=]\s{0,3}['"](?:POST|PUT)|\bcurl\b[^\n]{0,200}\s(?:-d|-F|-T|--data[\w-]{0,12}|--form|--upload-file)\b|\bwget\b[^\n]{0,200}--post|\b[Hh](?:ttp|TTP)\.[Pp]ost|\bhttps?\.request\(|-Method POST|\b(?:nc|ncat)\b|\.sendall\(/

/** What an attacker writes to a place that starts programs: a download, or a hidden program. */
const payload =
  /\b(?:curl|wget|nc|base64|eval|nohup)\b|\/dev\/tcp\/|\/tmp\/|\/\.(?!config\b|local\b|ssh\b|git\b|bash|z)\w|attacker/

const shellFiles = String.raw`\.(?:bashrc|bash_profile|bash_login|profile|zshrc|zprofile|zshenv)\b`
const startPlaces = String.raw`(?:Launch(?:Agents|Daemons)|\.config/autostart|systemd/(?:user|system)|/etc/cron\.|/etc/rc\.local|\.git/hooks/|CurrentVersion\\{1,2}Run)`
const writing = String.raw`(?:>{1,2}|\bsed -i\b|\btee\b|\bcp\b|\bmv\b|\binstall\b|\bln\b)`

const secretThings = String.raw`(?:environment variables?|api[ _-]?keys?|secrets?|credentials?|private keys?|passwords?|access tokens?|chat history|conversations?|system prompts?|every prompt)`

/** A warning or a rule against something uses the same words. */
const forbidding =
  /\b(?:never|do not|don't|avoid|must not|should not|cannot|deny|denied|block|blocked|protect|forbid|exclude|refuse|detect|malicious|attack(?:er)?s?|injections?)\b|\be\.g\.|\bonly to\b/i

const anyCase = patternTag('gim')
/** The words of a sentence, with a line break or several blanks between them too. */
const phrase = patternTag('gi', String.raw`\s{1,3}`)

const dangers: readonly WordRule[] = [
  {
    code: 'download-and-run',
    says: 'runs what it downloads',
    patterns: [
      files`(${fetching})[^\n]{1,400}\|\s{0,40}${interpreter}`,
      files`(?:\b(?:eval|source|${shell}(?: -c)?)|(?:^|[;&]) {0,4}\.) {0,4}["']?(?:\$\(|\`|<\() {0,4}(${fetching})`,
      files`(${fetching})…200?(?:-o|-O|--output|>)[ =]{0,3}["']?(?=([^\s"'|;&]{2,100}))\2["']?…40(?:\n…80){0,2}?[\n;&] {0,4}(?:nohup |sudo )?(?:${shell} |python3? |source |\. )?["']?\2(?=[\s"';&]|$)`,
      anyCase`\b(iwr|irm|Invoke-WebRequest|Invoke-RestMethod|DownloadString)\b…300\| {0,4}(?:iex|Invoke-Expression)\b`,
      anyCase`\b(iex|Invoke-Expression)\b…80\b(?:DownloadString|iwr|irm|Invoke-WebRequest)\b`,
      files`\b(exec|eval)\(…60${pythonFetch}`,
      files`(\b\w{1,40}) {0,3}= {0,3}…80${pythonFetch}…200(?:\n…200){0,6}?\b(?:exec|eval|os\.system|subprocess\.\w{2,12})\( {0,3}\1\b`,
      files`\b(urlretrieve)\([^\n,]{1,200},\s{0,4}["']([^"'\n]{2,100})["'](?:…200\n){0,6}?…80(?:system|run|call|Popen|exec\w{0,3})\(…60\2`,
      files`\b(https?\.get|fetch)\((?:…300\n){0,6}?…300(?:(?<![\w.])(?:eval|exec|execSync)\(|new Function\()`,
    ],
  },
  {
    code: 'decode-and-run',
    says: 'runs what it decodes',
    patterns: [
      files`\b(base64 (?:-d|-D|--decode)|xxd -r)\b[^\n|]{0,80}\| {0,4}(?:sudo )?(?:${shell}|python3?|node|perl)\b`,
      files`\b(?:eval|${shell} -c) {0,4}["']?\$\(…400(base64 (?:-d|-D|--decode))`,
      files`\b(eval|exec|Function)\(\s{0,4}(?:atob|codecs\.decode|bytes\.fromhex|(?:zlib|gzip|lzma|bz2)\.decompress|(?:marshal|pickle)\.loads|(?:base64\.)?b64decode|Buffer\.from|__import__\(["'](?:base64|zlib))\(?`,
      anyCase`\b(?:powershell|pwsh)\b…120 -(e(?:nc|ncodedcommand|c)?) {1,3}[A-Za-z0-9+/=]{16}`,
    ],
  },
  {
    code: 'credential-read',
    says: 'reads a file with credentials',
    patterns: [
      anyCase`${reading}…80${home}(${secretFile})`,
      files`(?:expanduser\(|homedir\(\)|\.home\(\)|env\.HOME)…24(${secretFile})`,
      files`(?:expanduser|homedir|\.home\(\)|copy|open|connect|cat |cp )…120(${systemSecret})`,
    ],
    unless: forbidding,
  },
  {
    code: 'environment-sent',
    says: 'sends the whole environment to another machine',
    subject: 'the environment',
    patterns: [
      files`(?:JSON\.stringify|Object\.(?:entries|assign|fromEntries))\([^\n)]{0,20}process\.env\s{0,3}[,)]|\.\.\.process\.env\b|(?:body|data|json|payload)\s{0,3}[:=]\s{0,3}process\.env\b(?![.[])`,
      files`dict\(os\.environ\)|\bos\.environ\.items\(\)|dumps\(\s{0,3}os\.environ\b|\bENV\.to_h\b|\bos\.Environ\(\)|\bSystem\.getenv\(\)|\bEnv:\*?\s{0,3}\|`,
      files`(?<=^|[;&|(\`]\s{0,4})(?:printenv|env|set|export -p)\s{0,3}(?:\||>)|\$\((?:printenv|env)\b`,
    ],
    near: sending,
  },
  {
    code: 'environment-sent',
    says: 'puts the environment into an address',
    subject: 'the environment',
    patterns: [files`\b(?:curl|wget)\b…200\$\((?:printenv|env|export -p)\b`],
  },
  {
    code: 'data-sent',
    says: 'asks to send secrets to another machine',
    patterns: [
      anyCase`\b(?:send|post|upload|forward|transmit|exfiltrate|submit)\b…80\b(${secretThings})\b…120(?:https?://|\bwebhook)`,
    ],
    unless: forbidding,
  },
  {
    code: 'reverse-shell',
    says: 'opens a shell to another machine',
    subject: 'a reverse shell',
    patterns: [
      files`sh {1,4}-i\b…40/dev/(?:tcp|udp)/`,
      files`\b(?:nc|ncat|netcat)\b…80 (?:-e|-c|--exec|--sh-exec) {1,4}["']?/?[\w/]{0,12}sh\b`,
      files`\bmkfifo\b…200\b(?:nc|ncat|netcat|openssl s_client)\b`,
      files`\b(?:socket|Socket)\b(?:…300\n){0,6}?…300/bin/(?:ba)?sh\b`,
      anyCase`\bsocat\b…200exec:`,
      files`\bsocket\b(?:…300\n){0,6}?…300\bdup2\((?:…200\n){0,4}?…200(?:pty\.spawn|subprocess|os\.system|\bsh\b)`,
    ],
    unless: forbidding,
  },
  {
    code: 'persistence-written',
    says: 'makes a program start automatically',
    patterns: [
      files`${writing}…120(${startPlaces})`,
      files`${writing} {0,4}["']?(?:~|\$HOME|\$\{HOME\})/(${shellFiles})`,
      files`(${startPlaces})…80["')](?:…80\n){0,2}…40(?:write|copy)`,
      files`\| {0,4}(crontab)\b(?! -l)|\b(crontab)(?: {1,4}-(?!\w)| {1,4}/| {0,4}<<)`,
    ],
    near: payload,
  },
  {
    code: 'persistence-written',
    says: 'leaves a way in for later',
    patterns: [
      files`(?:>{1,2}|\btee(?: -a)?) {0,4}["']?[^\s"']{0,60}(authorized_keys)\b`,
      anyCase`\b(?:New-ItemProperty|Set-ItemProperty|reg add)\b…120(CurrentVersion\\{1,2}Run)`,
      files`\b(chmod (?:u\+s|[24][0-7]{3})) {1,4}/(?:usr/)?bin/`,
      files`\bgit config\b…40\b(core\.hooksPath) {1,4}["']?(?:/tmp|~/\.|\$HOME/\.)`,
    ],
  },
  {
    code: 'agent-configuration-written',
    says: 'changes the permissions or configuration of an agent client',
    patterns: [
      files`${writing}…80(\.claude/settings|\.claude\.json|\.codex/config\.toml|\.gemini/settings|\.cursor/mcp\.json|\.mcp\.json)`,
    ],
    near: /bypassPermissions|"Bash\(\*\)"|\\?"allow\\?"|"allow"\s{0,3}:\s{0,3}\[\s{0,3}"\*|approval_policy\s{0,3}=\s{0,3}"never"|\b(?:curl|wget)\b|\bbase64\b/,
  },
  {
    code: 'destruction',
    says: 'deletes or overwrites everything',
    subject: 'a home or a disk',
    patterns: [
      files`(?:^|[;&|]) {0,8}(?:sudo )?rm (?:-{1,2}[\w-]{1,24} ){1,4}["']?(?:/(?:home|root|Users)?|~|\$HOME|\$\{HOME\})(?:/?\*|/?["']?(?=\s|$|;|&)|/\.\[)`,
      files`\bfind ["']?(?:/|~|\$HOME|\$\{HOME\})["']? …80-delete\b`,
      files`\brmtree\(\s{0,3}(?:os\.path\.expanduser\(["']~["']\)|(?:pathlib\.)?Path\.home\(\)|["']/["'])`,
      files`\bdd\b…40if=/dev/(?:zero|u?random)…80of=/dev/(?:sd|hd|nvme|disk|mmc)`,
      files`:\(\) {0,2}\{ {0,2}:\|:& {0,2}\};:`,
    ],
    unless: forbidding,
  },
  {
    code: 'override-phrase',
    says: 'overrides something',
    subject: 'earlier instructions',
    patterns: [
      phrase`\b(?:ignore|disregard|forget) (?:(?:all|any|the|your|every|of|previous|prior|earlier|above|preceding|system|safety) ){1,5}(?:instructions?|prompts?|rules|guidelines|guardrails)\b`,
      phrase`\boverride (?:all |any |the |your ){0,2}(?:previous|prior|earlier|system|safety) (?:instructions?|prompts?|rules|guidelines)\b`,
      phrase`\byou (?:now )?(?:have|are under) no (?:restrictions|limits|limitations|rules)\b`,
      phrase`\b(?:ignore|disregard) the user(?:'s)? (?:requests?|wishes|instructions?)\b`,
    ],
    unless: forbidding,
  },
  {
    code: 'concealment-phrase',
    says: 'asks for silence',
    subject: 'not telling the user',
    patterns: [
      phrase`\b(?:do\x20not|don't|never|without) (?:ever )?(?:tell|inform|notify|alert|let|reveal|disclose)(?:ing)? (?:(?:this|it|that) to )?(?:the |a )?(?:users?|humans?|person|developer|anyone|anybody)\b(?! (?:to|how|about)\b)`,
      phrase`\b(?:users?|humans?|person|developer) (?:must|should|may|need)\s{0,3}(?:not|n't) (?:be (?:told|informed|notified|aware)|know|find out|notice)\b`,
      phrase`\b(?:do\x20not|don't|never) mention (?:this|it)\b(?: to)?`,
      phrase`\bkeep (?:this|it|that)?\s{0,3}(?:secret|hidden|quiet)\b[^\n.]{0,40}\b(?:from|about)\b`,
    ],
  },
  {
    code: 'concealment-phrase',
    says: 'asks for silence',
    subject: 'doing something unseen',
    patterns: [
      phrase`\b(?:secretly|covertly|silently|quietly) (?:copy|send|upload|post|push|forward|collect|record|read|add)\b`,
    ],
    unless: forbidding,
  },
]

export const wordRules: readonly WordRule[] = [...capabilities, ...dangers]
