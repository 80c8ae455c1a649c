import Downloads
import Formats
import Foundation
import HTTPSemantics
import Testing

@testable import Storage

/// Tests that the texts that are written by hand read back as the same values.
@Suite struct RowCodingTests {
    /// Every member has another value than the default.
    private static var fullSpec: JobSpec {
        var spec = JobSpec(url: "https://host/ä \"quoted\"\\\n?a=b")
        spec.mirrors = ["https://mirror/1", "https://mirror/2"]
        spec.method = .post
        spec.body = .form([.init(name: "a", value: "1")])
        spec.headers = [HeaderField(name: "X-A", value: "\u{1}")]
        spec.credentials = .basic(username: "u", password: "p")
        spec.destination = Destination(
            location: Name("films"), directory: "d/e", filename: "{name}", onConflict: .replace)
        spec.destination.createDirectories = false
        spec.destination.staging = .whole
        spec.priority = .high
        spec.connections = 3
        spec.expectedSize = .max
        spec.maxSize = 1
        spec.digest = Digest.none
        spec.decodes = true
        spec.resumePolicy = .evidence
        spec.checksum = Checksum(.md5, hexadecimal: String(repeating: "0a", count: 16)).map(ExpectedChecksum.value)
        spec.pieces = PieceDigests(.md5, length: 1 << 20, digests: Data(0..<48))
        spec.mirrorPolicy = .discover
        spec.discovery = Discovery(mirrors: ["https://mirror/?a"], checksum: spec.checksum?.value, pieces: spec.pieces)
        spec.timeouts = Timeouts(requestSeconds: 0.1)
        var retry = RetryPolicy()
        retry.maxSeconds = 1.5
        spec.retry = retry
        spec.waitFor = [.url]
        spec.rateLimit = 7
        spec.notBefore = Date(timeIntervalSince1970: 1_800_000_000.123)
        spec.deadline = Date(timeIntervalSince1970: 1_900_000_000)
        spec.tags = ["t"]
        spec.metadata = Metadata(["k": ["v": 1.25]])
        spec.lost = [.body, .url]
        return spec
    }

    @Test func everyMemberOfASpecificationIsStored() throws {
        let spec = Self.fullSpec
        let text = try RowCoding.text(spec)
        #expect(try RowCoding.value(JobSpec.self, from: text) == spec)
        #expect(try RowCoding.spec(from: text) == spec)
        let stored = try #require(try JSON(parsing: Array(text.utf8)).objectValue)
        #expect(Set(stored.names) == Set(Mirror(reflecting: spec).children.compactMap(\.label)))
    }

    @Test func defaultsAreLeftOut() throws {
        let spec = JobSpec(url: "https://host/")
        #expect(try RowCoding.text(spec) == #"{"url":"https://host/"}"#)
        #expect(try RowCoding.value(JobSpec.self, from: try RowCoding.text(spec)) == spec)
    }

    /// Each text is also read by Foundation's decoder.
    @Test(arguments: [
        #"{"url":"https://host/"}"#, #"{"url":"u","destination":{"createDirectories":true,"filename":"f"}}"#,
        #"{"url":"u","priority":"low","digest":"none","connections":4,"expectedSize":9,"tags":["a","b"]}"#,
        #"{"url":"u","notBefore":-12.5}"#, #"{"url":"u","maxSize":9,"mirrors":["m"]}"#,
    ]) func specificationsAreReadAsFoundationReadsThem(_ text: String) throws {
        #expect(try RowCoding.spec(from: text) == RowCoding.value(JobSpec.self, from: text))
    }

    @Test(arguments: [
        #"{"url":"u","priority":"urgent"}"#, #"{"url":"u","destination":{"onConflict":"ask"}}"#, #"{"digest":"crc"}"#,
    ]) func unknownNamesAreReported(_ text: String) {
        #expect(throws: DecodingError.self) { try RowCoding.spec(from: text) }
    }

    private var listed: ListedChecksum {
        get throws {
            ListedChecksum(
                url: "https://host/SHA256SUMS", file: "a", checksum: try #require(Checksum(.md5, bytes: Array(0..<16))),
                signature: .init(kind: .minisign, url: "https://host/s", key: "RW", trustedComment: "t"))
        }
    }

    @Test func specificationsWithAListOfChecksumsReadBack() throws {
        var spec = JobSpec(url: "https://host/a")
        spec.checksum = .file(ChecksumFile(url: "https://host/SHA256SUMS"))
        #expect(try RowCoding.spec(from: RowCoding.text(spec)) == spec)
    }

    @Test(arguments: [true, false]) func finishesAndPromotionsReadBack(isFull: Bool) throws {
        let mark = FileMark(inode: .max, born: isFull ? -1 : nil, modified: .max)
        let file = FinishedFile(
            in: isFull ? Name("films") : nil, path: "a/ö.bin", size: .max, sha256: isFull ? "00" : nil,
            contentType: isFull ? "text/plain" : nil,
            mark: isFull ? mark : nil,
            object: isFull ? StoredObject(url: "https://s3/b/ö", etag: "\"e\"", versionID: "1") : nil)
        let receipt = Receipt(
            finalURL: "https://host/", redirects: isFull ? ["https://other/"] : [], status: 206,
            etag: isFull ? "\"e\"" : nil, lastModified: isFull ? "Sun, 06 Nov 1994 08:49:37 GMT" : nil,
            remoteAddress: isFull ? "::1" : nil, networkProtocol: "HTTP/2", lengthVerified: isFull,
            verifiedBy: isFull ? [.client, .googleHash] : nil, checksum: isFull ? try listed : nil,
            droppedMirrors: isFull ? [.init(url: "https://mirror/", code: .badRange, message: "m")] : nil,
            resumedBy: isFull ? .checksum : nil,
            coding: isFull ? .init(name: "gzip", isDecoded: true, size: .max, sha256: "11") : nil, attempts: 2,
            timings: .init(connect: 0.1, firstByte: 0, transfer: 1e-7, total: 123_456.789))
        let finish = JobResult(file: file, receipt: receipt)
        let promotion = FinalizePlan(
            part: PartID("part_1"), inode: .max, conflict: .error, file: file, receipt: receipt)
        #expect(try RowCoding.value(JobResult.self, from: RowCoding.text(finish)) == finish)
        #expect(try RowCoding.finish(from: RowCoding.text(finish)) == finish)
        #expect(try RowCoding.value(FinalizePlan.self, from: RowCoding.text(promotion)) == promotion)
    }
}
