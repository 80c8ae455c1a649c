import Base
import Foundation
import HTTPServer
import Storage

/// Receives a list, and writes it to its file while it arrives.
///
/// The network thread adds pieces, and a task writes them in their order. At most `mostWaiting` bytes are in memory: the server
/// reads no more from the client then.
final class ListUpload: BodySink {
    /// A complete list, and the digest of the request and the list.
    struct Received: Sendable {
        let id: ImportID
        let digest: Data
    }

    private struct State {
        /// Bytes that are not worth a write yet.
        var gathered: [UInt8] = []
        /// Bytes that the task has not written yet.
        var waiting = 0
        var onRoom: (@Sendable () -> Void)?
        var isAbandoned = false
    }

    let request: ImportRequest
    private let state = Locked(State())
    private let pieces: AsyncStream<[UInt8]>.Continuation
    private let task: Task<Received, any Error>

    /// - Parameter onEnd: called once, when the list is complete, or is received no more.
    init(_ request: ImportRequest, into store: Store, onEnd: @escaping @Sendable () -> Void) {
        self.request = request
        let (stream, pieces) = AsyncStream.makeStream(of: [UInt8].self)
        self.pieces = pieces
        task = Task { [state] in
            defer { onEnd() }
            return try await Self.receive(stream, of: request, into: store, state)
        }
    }

    func take(_ piece: UnsafeRawBufferPointer, onRoom: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            state.gathered += piece
            if state.gathered.count >= Self.worthWriting { flush(&state) }
            guard state.waiting >= Self.mostWaiting else { return true }
            state.onRoom = onRoom
            return false
        }
    }

    private func flush(_ state: inout State) {
        guard !state.gathered.isEmpty else { return }
        state.waiting += state.gathered.count
        pieces.yield(state.gathered)
        state.gathered = []
    }

    func abandon() {
        state.withLock { $0.isAbandoned = true }
        pieces.finish()
    }

    /// The whole list, after its last byte is on the disk. Its file belongs to the caller then.
    func received() async throws -> Received {
        state.withLock { flush(&$0) }
        pieces.finish()
        return try await task.value
    }

    private static func receive(
        _ stream: AsyncStream<[UInt8]>, of request: ImportRequest, into store: Store, _ state: Locked<State>
    ) async throws -> Received {
        let id = store.makeImportID()
        var hash = RunningHash(.sha256)
        request.fingerprint.withUnsafeBytes { hash.update($0) }
        let list: StagedList
        do { list = try await store.stageList(id, header: request.header) } catch {
            await discard(stream, state)
            throw error
        }
        do {
            for await piece in stream {
                piece.withUnsafeBytes { hash.update($0) }
                defer { wrote(piece.count, state) }
                try await list.append(piece)
            }
            guard !state.withLock(\.isAbandoned) else { throw CancellationError() }
            try await list.finish()
            return Received(id: id, digest: Data(hash.digest))
        } catch {
            await discard(stream, state)
            await store.removeList(id)
            throw error
        }
    }

    /// A client that sends a body reads the response only after it.
    private static func discard(_ stream: AsyncStream<[UInt8]>, _ state: Locked<State>) async {
        for await piece in stream { wrote(piece.count, state) }
    }

    private static func wrote(_ count: Int, _ state: Locked<State>) {
        let onRoom = state.withLock { state -> (@Sendable () -> Void)? in
            state.waiting -= count
            return state.waiting < mostWaiting ? state.onRoom.take() : nil
        }
        onRoom?()
    }

    private static let worthWriting = 64 << 10
    private static let mostWaiting = 512 << 10
}
