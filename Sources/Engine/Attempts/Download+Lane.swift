import Compression
import CurlClient
import Downloads

/// The part of an exchange that runs in the lane of its part: it writes the body to the disk, and ends the exchange.
extension Download {
    func prepare(_ file: SegmentedFile) {
        do throws(DiskError) {
            try file.part.open()
            if let size = file.size { try file.part.claim(size) }
        } catch {
            fail(error.failure)
        }
    }

    func write(_ chunk: Chunk) {
        let (target, skipped): (Target?, Int64) = state.withLock { state in
            guard !state.isOver else { return (nil, 0) }
            let skipped = min(state.skipping, Int64(chunk.count))
            state.skipping -= skipped
            return (state.target, skipped)
        }
        guard let target, Int(skipped) < chunk.count else { return }
        chunk.withUnsafeBytes { bytes in
            let wanted = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(Int(skipped)))
            guard let decoding = target.file.decoding else {
                _ = write(wanted, to: target)
                return
            }
            decode(wanted, decoding) { write($0, to: target) }
        }
    }

    private func decode(
        _ bytes: UnsafeRawBufferPointer, _ decoding: BodyDecoding, _ take: (UnsafeRawBufferPointer) -> Bool
    ) {
        do throws(InflationError) {
            try decoding.decode(bytes, take)
        } catch {
            fail(error.failure(decoding: decoding.coding))
        }
    }

    /// - Returns: false when the exchange needs no further bytes.
    private func write(_ bytes: UnsafeRawBufferPointer, to target: Target) -> Bool {
        guard let advance = target.file.advance(target.lease, by: bytes.count) else {
            fill()
            return false
        }
        if advance.isExcess {
            disbelieve(target.file)
            return false
        }
        if let limit = sizeLimit, advance.offset + Int64(advance.count) > limit.bytes {
            fail(limit.failure)
            return false
        }
        do throws(DiskError) {
            let wanted = UnsafeRawBufferPointer(rebasing: bytes.prefix(advance.count))
            try target.file.part.write(wanted, at: advance.offset)
            context.progress.add(advance.count)
        } catch {
            fail(error.failure)
            return false
        }
        if advance.isCut { fill() }
        return !advance.isCut
    }

    /// Called when a chunked body, or a body without a length, runs past the range in its head. It is then unknown
    /// which bytes the body contains: many servers send the whole file with the head of a partial response.
    private func disbelieve(_ file: SegmentedFile) {
        file.disbelieve()
        fail(Failure(.badRange, "The server sent more bytes than its Content-Range announced."))
    }

    private func fail(_ failure: Failure) {
        end { $0.failure = $0.failure ?? failure }
    }

    /// Called when another connection fetches the rest of the body.
    private func fill() {
        end { $0.isSegmentFull = true }
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

    private func end(_ mark: (inout State) -> Void) {
        let transfer = state.withLock { state in
            mark(&state)
            return state.transfer
        }
        transfer?.cancel()
    }

    func end(_ result: TransferResult) {
        if result.outcome == .completed { finishDecoding() }
        let (waiter, end) = state.withLock { state in
            defer { state.waiter = nil }
            return (
                state.waiter,
                End(
                    result: result, verdict: state.verdict, target: state.target, isSegmentFull: state.isSegmentFull,
                    failure: state.failure)
            )
        }
        waiter?.resume(returning: end)
    }
}
