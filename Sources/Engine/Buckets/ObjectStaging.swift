import Base
import Downloads
import Foundation
import HTTPSemantics
import Storage

/// A file whose first bytes go to a bucket while the others arrive. The disk has a window of the file only: connections hold back
/// the bytes after it, so the speed of the bucket limits that of the download.
///
/// Connections, the disk queue and the task that sends the bytes use it at the same time.
final class ObjectStaging: Sendable {
    /// Of each part of the upload but the last, in bytes.
    let partSize: Int64
    /// Of bytes that the disk has at the same time.
    var window: Int64 { 4 * partSize }

    /// Set when the task that sends the bytes may have something to do.
    let changed = AsyncAutoResetEvent()

    private struct State {
        /// The number of first bytes that only the bucket has.
        var released: Int64
        /// Of bytes that have arrived without a gap before them, in whole parts.
        var arrivedParts: Int64 = 0
        /// What wakes connections that hold bytes back.
        var held: [@Sendable () -> Void] = []
        /// How many of the primary connection and the further ones have ended.
        var ends = 0
        var isClosed = false
        var result: Result
    }

    enum Result: Sendable {
        case sending
        /// The bucket has all bytes.
        case sent(StagedObject)
        /// The file is small, or the transfer ended before the file did. The bucket may have some of its parts.
        case incomplete
        case failed(Attempt.UploadOutcome)
    }

    private let state: Locked<State>

    /// Of parts of an upload whose size is not known when it begins, in bytes.
    static let partSizeOfUnknown: Int64 = 64 << 20
    /// A smaller window would hold up the transfer for each part.
    static let leastWindow: Int64 = 32 << 20
    /// Servers accept 10,000 parts.
    private static let mostParts: Int64 = 9_900

    /// - Parameter released: the number of first bytes that only the bucket has.
    init(partSize: Int64, released: Int64 = 0) {
        self.partSize = partSize
        state = Locked(State(released: released, result: .sending))
    }

    var released: Int64 { state.withLock(\.released) }

    var result: Result { state.withLock(\.result) }

    /// The file that the bucket has as a whole; nil: its bytes are on the disk.
    var object: StagedObject? { if case .sent(let object) = result { object } else { nil } }

    /// Largest size of the file in bytes.
    var mostBytes: Int64 { Self.mostParts * partSize }
}

/// A file that its bucket has as a whole, before its object exists.
struct StagedObject: Sendable {
    /// With all parts.
    var upload: StoredUpload
    /// Lowercase hexadecimal digests.
    var digests: [Checksum.Algorithm: String]
}

// MARK: - The connections

extension ObjectStaging {
    enum Admission: Sendable {
        case admitted
        /// The bytes are after the window.
        case heldBack
        /// No bytes are wanted any more.
        case refused
    }

    /// Whether bytes may be written to the disk now.
    ///
    /// - Parameter wake: called once, when this may have changed.
    func admit(upTo end: Int64, orElse wake: @escaping @Sendable () -> Void) -> Admission {
        state.withLock { state in
            if state.isClosed { return .refused }
            if end <= state.released + window { return .admitted }
            state.held.append(wake)
            return .heldBack
        }
    }

    /// The first bytes of the file have arrived without a gap.
    func noteArrival(of prefix: Int64) {
        let isPartNew = state.withLock { state in
            defer { state.arrivedParts = prefix / partSize }
            return prefix / partSize > state.arrivedParts
        }
        if isPartNew { changed.set() }
    }

    /// Bytes before those that a connection holds back may have lost their connection.
    func reconsider() { wake { _ in } }

    /// The primary connection, or the last further one, has ended.
    func noteEnd() {
        state.withLock { $0.ends += 1 }
        changed.set()
    }

    var isTransferOver: Bool { state.withLock { $0.ends == 2 } }

    private func wake(after change: (inout State) -> Void) {
        let held = state.withLock { state in
            change(&state)
            defer { state.held = [] }
            return state.held
        }
        for wake in held { wake() }
    }
}

// MARK: - The task that sends the bytes

extension ObjectStaging {
    /// Opens the window for more bytes.
    func advance(to released: Int64) { wake { $0.released = released } }

    /// No bytes are sent any more.
    func end(_ result: Result) {
        wake { state in
            state.result = result
            state.isClosed = true
        }
    }
}

// MARK: - The digests

/// The digests of bytes that are read in order, in a form that can be stored.
struct StorableDigests: Sendable {
    private var digests: [Checksum.Algorithm: StorableDigest]

    init(_ algorithms: Set<Checksum.Algorithm>) {
        digests = algorithms.reduce(into: [:]) { $0[$1] = StorableDigest($1.function) }
    }

    /// - Returns: nil for what `stored` never is.
    init?(stored: [String: String]) {
        digests = [:]
        for (name, state) in stored {
            guard let algorithm = Checksum.Algorithm(rawValue: name), let bytes = Data(base64Encoded: state),
                let digest = StorableDigest(algorithm.function, stored: [UInt8](bytes))
            else { return nil }
            digests[algorithm] = digest
        }
    }

    var algorithms: Set<Checksum.Algorithm> { Set(digests.keys) }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        for algorithm in digests.keys { digests[algorithm]?.update(bytes) }
    }

    var stored: [String: String] {
        Dictionary(uniqueKeysWithValues: digests.map { ($0.key.rawValue, Data($0.value.stored).base64EncodedString()) })
    }

    /// Lowercase hexadecimal digests of the bytes so far.
    var hexadecimal: [Checksum.Algorithm: String] { digests.mapValues(\.digest.hexadecimal) }
}
