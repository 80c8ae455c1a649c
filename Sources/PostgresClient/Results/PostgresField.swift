/// A value of a row in the binary format. It is valid only during the initializer that it is passed to.
public struct PostgresField {
    let type: PostgresType
    let bytes: UnsafeRawBufferPointer

    /// nil if the value has another size.
    func bigEndian<Integer: FixedWidthInteger>(_: Integer.Type) -> Integer? {
        guard bytes.count == MemoryLayout<Integer>.size else { return nil }
        return Integer(bigEndian: bytes.loadUnaligned(as: Integer.self))
    }
}
