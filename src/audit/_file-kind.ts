/** What the first bytes of a file say that it is. */
export interface FileKind {
  group: 'program' | 'byte code' | 'archive' | 'picture' | 'document' | 'script' | 'text' | 'data'
  /** As in "is NAME". */
  name: string
}

/** Enough for every signature below; that of tar stands at 257. */
export const headBytes = 4096

type Signature = readonly [bytes: string, group: FileKind['group'], name: string, offset?: number]

/** Signatures as Latin-1 text. */
const signatures: readonly Signature[] = [
  ['\x7fELF', 'program', 'a program for Linux (ELF)'],
  ['\xcf\xfa\xed\xfe', 'program', 'a program for macOS (Mach-O)'],
  ['\xce\xfa\xed\xfe', 'program', 'a program for macOS (Mach-O)'],
  ['\xfe\xed\xfa\xcf', 'program', 'a program for macOS (Mach-O)'],
  ['\xfe\xed\xfa\xce', 'program', 'a program for macOS (Mach-O)'],
  ['\0asm', 'byte code', 'a WebAssembly module'],
  ['dex\n', 'byte code', 'Android byte code'],
  ['\x1bLua', 'byte code', 'Lua byte code'],
  ['PK\x03\x04', 'archive', 'a ZIP archive'],
  ['PK\x05\x06', 'archive', 'an empty ZIP archive'],
  ['\x1f\x8b', 'archive', 'a gzip archive'],
  ['BZh', 'archive', 'a bzip2 archive'],
  ['\xfd7zXZ\0', 'archive', 'an xz archive'],
  ['7z\xbc\xaf\x27\x1c', 'archive', 'a 7z archive'],
  ['\x28\xb5\x2f\xfd', 'archive', 'a Zstandard archive'],
  ['Rar!\x1a\x07', 'archive', 'a RAR archive'],
  ['ustar', 'archive', 'a tar archive', 257],
  ['\x89PNG\r\n', 'picture', 'a PNG picture'],
  ['\xff\xd8\xff', 'picture', 'a JPEG picture'],
  ['GIF8', 'picture', 'a GIF picture'],
  ['RIFF', 'picture', 'a RIFF file'],
  ['%PDF-', 'document', 'a PDF document'],
  ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'document', 'an old Office document'],
]

/** What a file is, by its first bytes; its name only tells byte code from other data. */
export function fileKind(head: Buffer, path: string): FileKind {
  const text = head.toString('latin1')
  if (/\.py[co]$/i.test(path)) return { group: 'byte code', name: 'Python byte code' }
  if (isPortableExecutable(head, text)) {
    return { group: 'program', name: 'a program for Windows (PE)' }
  }
  if (text.startsWith('\xca\xfe\xba\xbe')) return javaOrMac(head)
  for (const [bytes, group, name, offset = 0] of signatures) {
    if (text.startsWith(bytes, offset)) return { group, name }
  }
  if (/^#!\s{0,8}\//.test(text)) return { group: 'script', name: 'a script' }
  const isUtf16 = text.startsWith('\xff\xfe') || text.startsWith('\xfe\xff')
  if (isUtf16) return { group: 'text', name: 'text in UTF-16' }
  return text.includes('\0')
    ? { group: 'data', name: 'binary data' }
    : { group: 'text', name: 'text' }
}

/** `MZ` alone begins many a text. */
function isPortableExecutable(head: Buffer, text: string): boolean {
  if (!text.startsWith('MZ') || head.length < 64) return false
  return text.startsWith('PE\0\0', head.readUInt32LE(60)) || text.slice(2, 64).includes('\0')
}

/** Both begin alike: a count of architectures is small, a version of the class format is not. */
function javaOrMac(head: Buffer): FileKind {
  const number = head.length < 8 ? 0 : head.readUInt32BE(4)
  return number < 40
    ? { group: 'program', name: 'a program for macOS (universal)' }
    : { group: 'byte code', name: 'Java byte code' }
}
