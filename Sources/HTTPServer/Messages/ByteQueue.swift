/// A first-in, first-out queue of bytes between a writer and a slower reader.
struct ByteQueue {
    private var bytes: [UInt8] = []
    private var start = 0

    var count: Int { bytes.count - start }

    mutating func append(_ more: [UInt8]) {
        if start == bytes.count {
            bytes = more  // the usual case: the reader keeps up, and nothing is copied
            start = 0
        } else {
            // Removing the bytes that were read moves the rest, so this waits until the rest is the smaller half.
            if start > count {
                bytes.removeFirst(start)
                start = 0
            }
            bytes.append(contentsOf: more)
        }
    }

    /// Moves bytes to `buffer`, and returns their number.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let moved = min(count, buffer.count)
        bytes.withUnsafeBytes { source in
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[start..<start + moved]))
        }
        start += moved
        if start == bytes.count { removeAll() }
        return moved
    }

    mutating func removeAll() {
        bytes = []
        start = 0
    }
}

extension ByteQueue {
    /// Passes the bytes that are in the queue, without removing them.
    func withFirstBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start...])) }
    }

    mutating func drop(_ count: Int) {
        start += count
        if start == bytes.count { removeAll() }
    }
}
