const trojanSource = 'https://trojansource.codes/'
const unicodeSecurity = 'https://www.unicode.org/reports/tr36/'
const confusables = 'https://www.unicode.org/reports/tr39/#Confusable_Detection'
const hostile = 'Skillrail: a limit against hostile files'
const specification = 'https://agentskills.io/specification#directory-structure'

/** What hides something from a reader, or harms whoever reads, unpacks or runs the folder. */
export const structureRules = {
  'tag-characters': {
    severity: 'error',
    sentence: 'No text contains tag characters (U+E0000 to U+E007F) outside flags.',
    source: unicodeSecurity,
  },
  'bidirectional-override': {
    severity: 'error',
    sentence: 'No text contains bidirectional embeddings, overrides or isolates.',
    source: trojanSource,
  },
  'hidden-characters': {
    severity: 'error',
    sentence: 'No text contains two or more invisible characters in a row.',
    source: unicodeSecurity,
  },
  'variation-selectors': {
    severity: 'error',
    sentence: 'No text contains two or more variation selectors in a row.',
    source: 'https://www.unicode.org/reports/tr37/',
  },
  'zero-width': {
    severity: 'warning',
    sentence:
      'No word contains a zero-width character, except where a script or an emoji needs it.',
    source: unicodeSecurity,
  },
  'terminal-escape': {
    severity: 'error',
    sentence: 'No text contains characters that a terminal obeys (ESC, CSI, OSC, backspace).',
    source: 'ECMA-48',
  },
  'control-character': {
    severity: 'warning',
    sentence: 'No text contains other control characters than tab, line feed and form feed.',
    source: 'ECMA-48',
  },
  'hidden-style': {
    severity: 'error',
    sentence: 'No style in a Markdown file makes its text invisible.',
    source: 'Skillrail: what a reviewer sees is what a model reads',
  },
  'comment-instructions': {
    severity: 'info',
    sentence: 'An HTML comment, which no rendered page shows, speaks to the reader.',
    source: 'Skillrail: what a reviewer sees is what a model reads',
  },
  'text-pushed-aside': {
    severity: 'warning',
    sentence: 'No text stands behind 500 blanks or 200 empty lines.',
    source: 'Skillrail: what a reviewer sees is what a model reads',
  },
  'link-outside': {
    severity: 'error',
    sentence: 'No symbolic link leads out of the skill.',
    source: specification,
  },
  'link-broken': {
    severity: 'warning',
    sentence: 'Every symbolic link leads somewhere.',
    source: specification,
  },
  'special-file': {
    severity: 'error',
    sentence: 'A skill consists of files and directories, not of pipes, sockets or devices.',
    source: specification,
  },
  'special-rights': {
    severity: 'error',
    sentence: 'No file runs with the rights of its owner or group (setuid, setgid).',
    source: specification,
  },
  'too-many-files': {
    severity: 'error',
    sentence: 'A skill has at most 10,000 files and directories.',
    source: hostile,
  },
  'too-deep': {
    severity: 'error',
    sentence: 'Directories of a skill lie at most 32 levels inside one another.',
    source: hostile,
  },
  'file-too-large': {
    severity: 'error',
    sentence: 'A file of a skill has at most 64 MiB.',
    source: hostile,
  },
  'archive-bomb': {
    severity: 'error',
    sentence:
      'No archive claims to unpack to more than 100 MiB and 100 times its size, or to 10,000 files.',
    source: hostile,
  },
  'archive-escape': {
    severity: 'error',
    sentence: 'No archive contains an absolute path, or one that leads out of it.',
    source: 'https://cwe.mitre.org/data/definitions/22.html',
  },
  archive: {
    severity: 'info',
    sentence: 'An archive, whose contents are not looked at.',
    source: hostile,
  },
  'prototype-key': {
    severity: 'error',
    sentence: 'No key in frontmatter or JSON is `__proto__`, nor one of its kin in frontmatter.',
    source: 'https://cwe.mitre.org/data/definitions/1321.html',
  },
  'name-imitates': {
    severity: 'error',
    sentence: 'No name looks like the name of another installed skill.',
    source: confusables,
  },
  'name-mixed-scripts': {
    severity: 'error',
    sentence: 'No word of a name mixes letters of scripts that look alike.',
    source: confusables,
  },
  'name-near': {
    severity: 'warning',
    sentence: 'No name is one letter away from the name of another installed skill.',
    source: 'https://cwe.mitre.org/data/definitions/1007.html',
  },
  'file-name-hidden': {
    severity: 'error',
    sentence: 'No file name contains invisible, bidirectional or control characters.',
    source: trojanSource,
  },
  'file-name-system': {
    severity: 'warning',
    sentence: 'Every file name means the same on every system.',
    source: 'https://learn.microsoft.com/windows/win32/fileio/naming-a-file',
  },
  'file-name-case': {
    severity: 'warning',
    sentence: 'No two names in a directory differ only in case or in the form of their letters.',
    source: specification,
  },
  'skill-file-twice': {
    severity: 'error',
    sentence: 'A directory has one `SKILL.md`; no `skill.md` stands beside it.',
    source: specification,
  },
  'executable-binary': {
    severity: 'error',
    sentence: 'A skill contains no compiled program, which nobody can read.',
    source: specification,
  },
  'compiled-code': {
    severity: 'warning',
    sentence: 'A skill contains no byte code, which runs without being read.',
    source: specification,
  },
  'misleading-extension': {
    severity: 'error',
    sentence: 'No program, script or archive is named like a text, a picture or a document.',
    source: 'https://cwe.mitre.org/data/definitions/451.html',
  },
  'nested-git': {
    severity: 'error',
    sentence: 'No Git directory, whose configuration can start programs, lies inside the skill.',
    source: 'https://git-scm.com/docs/git-config#Documentation/git-config.txt-safebareRepository',
  },
  lockfile: {
    severity: 'info',
    sentence: 'A lockfile: what the skill installs.',
    source: specification,
  },
  'not-analysed': {
    severity: 'warning',
    sentence: 'Everything in a skill can be read and analysed.',
    source: hostile,
  },
} as const
