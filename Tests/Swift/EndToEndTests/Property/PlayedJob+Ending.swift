import Formats
import Glibc
import TestKit

/// The end of a job in a round, and the invariants that must hold then.
extension PlayedJob {
    /// Brings the job to an end from the state in which the actions left it.
    mutating func settle() async throws {
        var job = try await ended()
        guard plan.isRetriedAtLast, ["failed", "cancelled"].contains(job["state"]) else { return }
        file.behave()
        // The patience of some jobs is so short that a busy machine exceeds it.
        for _ in 0..<20 {
            retries += 1
            try await act("retry")
            job = try await ended()
            guard job["failure"]["code"] == "timed_out" else { break }
        }
        if job["state"] != "succeeded" { note("it did not succeed although the origin behaves: \(job.written)") }
    }

    private mutating func ended() async throws -> JSON {
        var last = JSON.null
        do {
            return try await eventually("the end of \(id)", pause: .milliseconds(20)) {
                last = try await service.job(id)
                if last["state"] == "paused" { try await act("resume") }
                return last.isTerminal ? last : JSON?.none
            }
        } catch is Overdue {
            throw Overdue("\(filename) has not come to an end: \(last.written)")
        }
    }

    // MARK: Resume data

    /// Checks that the durable bytes of a job at rest are on disk, and belong to the version that the validators name.
    mutating func lookAtPart() async throws {
        let job = try await service.job(id)
        guard job.isAtRest, job["state"] != "succeeded" else { return }
        let part = try await resumeData(like: job)
        let durable = part?["bytes_durable"].integer ?? 0
        if job["progress"]["bytes_durable"].integer != durable {
            note("its bytes_durable are not those of its resume data, \(durable): \(job.written)")
        }
        guard let part else { return }
        let ranges = (part["ranges"].arrayValue ?? []).map { (Int($0[0].integer ?? -1), Int($0[1].integer ?? -1)) }
        if ranges.contains(where: { $0.0 < 0 || $0.0 >= $0.1 })
            || ranges.reduce(0, { $0 + $1.1 - $1.0 }) != Int(durable)
        {
            note("its ranges are not its bytes_durable: \(part.written)")
        }
        let claims = (inherited + [file]).flatMap(\.claims).filter { claim in
            (part["etag"].string == nil || part["etag"].string == claim.etag)
                && (part["last_modified"].string == nil || part["last_modified"].string == claim.lastModified)
        }
        let isTrue = service.parts.contains { bytes in
            claims.contains { claim in
                ranges.allSatisfy { Bytes.areEqual(bytes, claim.bytes, from: $0.0, to: $0.1) }
            }
        }
        if !isTrue { note("no file on disk has what its resume data promises: \(part.written)") }
    }

    /// Asks again if another node of several does not know the newest revision of the job yet.
    private func resumeData(like job: JSON) async throws -> JSON? {
        var part: JSON?
        do {
            let patience = service.nodes.count > 1 ? Duration.seconds(10) : .zero
            _ = try await eventually("the resume data of \(id)", atMost: patience) { () -> Bool? in
                part = try await service.resumeData(of: id)
                return part?["bytes_durable"].integer ?? 0 == job["progress"]["bytes_durable"].integer ? true : nil
            }
        } catch is Overdue {}
        return part
    }

    // MARK: Results

    /// - Parameter events: the job's events, in order.
    mutating func check(_ events: [JSON]) async throws {
        let job = try await service.job(id)
        checkEvents(events, job)
        guard job["state"] == "succeeded" else {
            let file = try await service.file(of: job, named: filename)
            if file != nil { note("there is a file although it is \(job["state"])") }
            if job["file"] != .null || job["receipt"] != .null { note("it tells of a file: \(job.written)") }
            return try await lookAtPart()
        }
        let bytes = try await service.file(of: job, named: filename)
        guard job["file"]["path"].string == filename, let bytes else {
            return note("it has succeeded, and its file is not there: \(job.written)")
        }
        checkFile(bytes, job)
    }

    private mutating func checkFile(_ bytes: [UInt8], _ job: JSON) {
        let receipt = job["receipt"]
        let named = file.claims.filter { receipt["etag"].string == nil || receipt["etag"].string == $0.etag }
        let isExact = named.contains { $0.bytes.count == bytes.count && Bytes.areEqual(bytes, $0.bytes) }
        // Without a length an early close cannot be detected, and the receipt says so.
        let isPrefix = named.contains { Bytes.areEqual(bytes, $0.bytes, from: 0, to: bytes.count) }
        if !isExact, receipt["length_verified"] == true || !isPrefix {
            let sizes = file.claims.map { "\($0.bytes.count) \($0.etag ?? "")\(Bytes.agreement(bytes, $0.bytes))" }
            note("its \(bytes.count) bytes are no version of the file (\(sizes.sorted())): \(job.written)")
        }
        let size = JSON.count(bytes.count)
        if job["file"]["size"] != size || job["file"]["sha256"].string != SHA.hexadecimal(of: bytes) {
            note("its size or digest is not its file's: \(job.written)")
        }
        let progress = job["progress"]
        if progress["bytes_received"] != size || progress["bytes_expected"] != size || progress["fraction"] != 1 {
            note("its progress is not that of a whole file: \(job.written)")
        }
    }

    private mutating func checkEvents(_ events: [JSON], _ job: JSON) {
        let ends = events.filter { ["job.succeeded", "job.failed", "job.cancelled"].contains($0["type"]) }
        if ends.last?["type"].string != job["state"].string.map({ "job.\($0)" }) || ends.count > retries + 1 {
            note("\(retries) retries, \(job["state"]), and these events: \(JSON.types(of: events))")
        }
        if events.first?["type"] != "job.created" { note("its first event is no creation") }
        if ends.last?["data"]["snapshot"]["revision"] != job["revision"], job["state"] == "succeeded" {
            note("its last event tells of another revision than \(job["revision"])")
        }
    }
}

/// Fast comparison of large arrays, also in builds without optimisation.
enum Bytes {
    static func areEqual(_ one: [UInt8], _ other: [UInt8], from start: Int = 0, to end: Int? = nil) -> Bool {
        let end = end ?? one.count
        guard end <= one.count, end <= other.count else { return false }
        return one.withUnsafeBytes { one in
            other.withUnsafeBytes { other in
                guard start < end, let one = one.baseAddress, let other = other.baseAddress else { return true }
                return memcmp(one + start, other + start, end - start) == 0
            }
        }
    }

    /// The first difference of two arrays, in words.
    static func agreement(_ one: [UInt8], _ other: [UInt8]) -> String {
        let count = min(one.count, other.count)
        guard let first = (0..<count).first(where: { one[$0] != other[$0] }) else { return ", a prefix" }
        return ", differs from byte \(first)"
    }
}
