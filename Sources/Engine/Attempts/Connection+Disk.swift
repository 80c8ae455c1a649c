import Base
import CurlClient
import Downloads

/// What a connection does in the disk queue of its part.
extension Connection {
    func prepare(_ file: SegmentedFile) {
        do throws(DiskError) {
            try file.part.open()
            try file.part.claim(file.size)
        } catch {
            fail(error.failure)
        }
    }

    func write(_ chunk: Chunk) {
        let (target, skipped, compared): (Target?, Int64, Int64?) = state.withLock { state in
            guard !state.isOver else { return (nil, 0, nil) }
            let skipped = min(state.skipping, Int64(chunk.count))
            let place = state.comparedEnd.map { $0 - state.skipping }
            state.skipping -= skipped
            return (state.target, skipped, skipped > 0 ? place : nil)
        }
        guard let target, compared.map({ isStored(chunk, skipped, at: $0, in: target.file) }) ?? true,
            Int(skipped) < chunk.count
        else { return }
        chunk.withUnsafeBytes { bytes in
            let wanted = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(Int(skipped)))
            guard let decoding = target.file.decoding else {
                _ = write(wanted, to: target)
                return
            }
            do throws(InflationError) {
                try decoding.decode(wanted) { write($0, to: target) }
            } catch {
                fail(error.failure(decoding: decoding.coding))
            }
        }
    }

    /// - Returns: false when the exchange needs no further bytes.
    private func write(_ bytes: UnsafeRawBufferPointer, to target: Target) -> Bool {
        guard let advance = target.file.advance(target.claim, by: bytes.count) else {
            endAsFull()
            return false
        }
        if advance.isExcess {
            // A chunked body, or a body without a length, runs past the range in its head. It is then unknown which
            // bytes the body contains: many servers send the whole file with the head of a partial response.
            target.file.markCorrupt(.badRange)
            fail(Failure(.badRange, "The server sent more bytes than its Content-Range announced."))
            return false
        }
        if let limit = state.withLock({ $0.exchange?.sizeLimit }), advance.offset + Int64(advance.count) > limit.bytes {
            fail(limit.failure)
            return false
        }
        if let most = target.file.part.staging?.mostBytes, advance.offset + Int64(advance.count) > most {
            fail(Failure(.tooLarge, "The server states no size, and sends more than the \(most) bytes of an object."))
            return false
        }
        do throws(DiskError) {
            let wanted = UnsafeRawBufferPointer(rebasing: bytes.prefix(advance.count))
            try target.file.part.write(wanted, at: advance.offset)
            target.file.part.staging?.noteArrival(of: target.file.part.written.prefix)
            if let mirror = target.mirror { target.file.record(wanted.count, at: advance.offset, from: mirror) }
            attempt.control.recordWrite(of: advance.count)
        } catch {
            fail(error.failure)
            return false
        }
        if advance.isCut { endAsFull() }
        return !advance.isCut
    }

    func fail(_ failure: Failure) { cancel { $0.failure = $0.failure ?? failure } }

    func endAsFull() { cancel { $0.isSegmentFull = true } }

    private func cancel(_ mark: (inout State) -> Void) {
        let transfer = state.withLock { state in
            mark(&state)
            return state.transfer
        }
        transfer?.cancel()
    }

    func end(_ result: TransferResult) {
        guard !holds(result) else { return }
        if result.outcome == .completed { finishDecoding() }
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            state.result = result
            return state.waiter
        }
        waiter?.resume()
    }

    /// A body can end before its content does, although it has the length that its head states.
    private func finishDecoding() {
        let decoding = state.withLock { $0.isOver ? nil : $0.target?.file.decoding }
        do throws(InflationError) {
            try decoding?.finish()
        } catch {
            fail(error.failure(decoding: decoding?.coding ?? ""))
        }
    }
}

// MARK: - Bytes that come before the disk has a place for them

/// The chunks that come before the disk has a place for them, because a bucket takes the bytes more slowly than the server sends
/// them. While a connection holds chunks, its transfer is paused, and the disk queue does other work.
///
/// All of this runs in the disk queue of the part.
extension Connection {
    func take(_ chunk: Chunk) {
        guard let staging = staging else { return write(chunk) }
        state.withLock { $0.held.append(chunk) }
        writeHeld(within: staging)
    }

    private var staging: ObjectStaging? { state.withLock { $0.target?.file.part.staging } }

    private func writeHeld(within staging: ObjectStaging) {
        while let (chunk, target) = state.withLock({ $0.firstHeld }) {
            let position = target.file.range(of: target.claim)?.lowerBound ?? 0
            let admission = staging.admit(upTo: position + Int64(chunk.count)) { [self] in
                attempt.diskQueue.async { self.writeHeld(within: staging) }
            }
            switch admission {
            case .admitted:
                state.withLock { _ = $0.held.removeFirst() }
                write(chunk)
            // The connection that fetched bytes before these has ended. This one takes over, because it would wait for them.
            case .heldBack where target.file.isAnyUnclaimed(before: position):
                state.withLock { $0.held = [] }
                endAsFull()
            case .heldBack: return
            case .refused: state.withLock { $0.held = [] }
            }
        }
        if let result = state.withLock({ $0.heldEnd.take() }) { end(result) }
    }

    /// Whether the exchange ends later, after its last chunks are written.
    func holds(_ result: TransferResult) -> Bool {
        state.withLock { state in
            if state.isOver || result.outcome == .cancelled { state.held = [] }
            guard !state.held.isEmpty else { return false }
            state.heldEnd = result
            return true
        }
    }
}

extension Connection.State {
    fileprivate var firstHeld: (Chunk, Connection.Target)? {
        guard let chunk = held.first, let target else { return nil }
        return (chunk, target)
    }
}
