/** Makes a ZIP archive with only a central directory: its claims, without contents. */
export function zipOf(entries: readonly { name: string; size: number }[]): Buffer {
  const local = Buffer.from('PK\x03\x04', 'latin1')
  const directory = Buffer.concat(
    entries.map(({ name, size }) => {
      const record = Buffer.alloc(46)
      record.writeUInt32LE(0x02014b50, 0)
      record.writeUInt32LE(size, 24)
      record.writeUInt16LE(Buffer.byteLength(name), 28)
      return Buffer.concat([record, Buffer.from(name)])
    }),
  )
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(local.length, 16)
  return Buffer.concat([local, directory, end])
}
