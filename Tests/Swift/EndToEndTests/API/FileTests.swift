import Downloads
import Foundation
import TestKit
import Testing

/// `GET /v1/jobs/{id}/file`: the finished file, whole or in ranges.
@Suite struct FileTests {
    @Test func servesWholeFileAndItsHead() async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: .succeeded)
        let answer = try await scene.api.get("/v1/jobs/\(id)/file")
        #expect(answer.status == 200)
        #expect(answer.body == scene.bytes)
        #expect(answer.header("Content-Type") == "video/mp4")
        #expect(answer.header("Accept-Ranges") == "bytes")
        #expect(answer.header("Content-Disposition") == "attachment; filename=\"file\"; filename*=UTF-8''file")
        #expect(answer.header("X-Content-Type-Options") == "nosniff")
        let head = try await scene.api.send("HEAD", "/v1/jobs/\(id)/file")
        #expect(head.status == 200)
        #expect(head.body.isEmpty)
        #expect(head.header("Content-Length") == "200000")
        #expect(head.header("ETag") == answer.header("ETag"))
    }

    @Test(arguments: [
        ("bytes=0-0", 0..<1), ("bytes=0-99999", 0..<100_000), ("bytes=199999-", 199_999..<200_000),
        ("bytes=100000-999999999", 100_000..<200_000), ("bytes=-1", 199_999..<200_000), ("bytes=-999999", 0..<200_000),
    ])
    func answers206WithSingleRange(_ range: String, _ expected: Range<Int>) async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: .succeeded)
        let answer = try await scene.api.get("/v1/jobs/\(id)/file", headers: [("Range", range)])
        #expect(answer.status == 206)
        #expect(answer.body == Array(scene.bytes[expected]))
        let bounds = "\(expected.lowerBound)-\(expected.upperBound - 1)"
        #expect(answer.header("Content-Range") == "bytes \(bounds)/200000")
    }

    @Test(arguments: ["lines=1-2", "bytes=5-1", "bytes=a-b", "bytes=-", "bytes=+1-2", "bytes", "bytes=0-,0-"])
    func servesWholeFileWhenRangeIsInvalid(_ range: String) async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: .succeeded)
        let answer = try await scene.api.get("/v1/jobs/\(id)/file", headers: [("Range", range)])
        #expect(answer.status == 200)
        #expect(answer.body == scene.bytes)
    }

    @Test(arguments: ["bytes=200000-", "bytes=999999-1000000", "bytes=-0"])
    func answers416WhenRangeIsOutsideFile(_ range: String) async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: .succeeded)
        let answer = try await scene.api.get("/v1/jobs/\(id)/file", headers: [("Range", range)])
        #expect(answer.status == 416)
        #expect(answer.problem == .init(kind: "range-not-satisfiable"))
        #expect(answer.header("Content-Range") == "bytes */200000")
    }

    @Test func answersMultipartByterangesForSeveralRanges() async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: .succeeded)
        let ranges = "bytes=0-9, 150000-, 500000-, -1"
        let answer = try await scene.api.get("/v1/jobs/\(id)/file", headers: [("Range", ranges)])
        #expect(answer.status == 206)
        #expect(answer.header("Content-Range") == nil)
        #expect(answer.header("Content-Length") == "\(answer.body.count)")
        let type = try #require(answer.header("Content-Type"))
        #expect(type.hasPrefix("multipart/byteranges; boundary="))
        // RFC 9110, section 14.6: each part has its own type and range.
        var expected: [UInt8] = []
        for range in [0...9, 150_000...199_999, 199_999...199_999] {
            expected += "\r\n--\(type.dropFirst(31))\r\nContent-Type: video/mp4\r\n".utf8
            expected += "Content-Range: bytes \(range.lowerBound)-\(range.upperBound)/200000\r\n\r\n".utf8
            expected += scene.bytes[range]
        }
        expected += "\r\n--\(type.dropFirst(31))--\r\n".utf8
        // Compared outside the expectation, which would print half a megabyte of numbers.
        let isExpected = answer.body == expected
        #expect(isExpected)
    }

    @Test func ignoresRangeInHeadRequest() async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: .succeeded)
        for range in ["bytes=0-9", "bytes=0-1,5-6", "bytes=999999-"] {
            let head = try await scene.api.send("HEAD", "/v1/jobs/\(id)/file", headers: [("Range", range)])
            #expect(head.status == 200)
            #expect(head.header("Content-Length") == "200000")
        }
    }

    @Test func answers304WhenIfNoneMatchHasETag() async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: .succeeded)
        let tag = try #require(try await scene.api.get("/v1/jobs/\(id)/file").header("ETag"))
        for known in [tag, "W/\(tag)", "\"other\", \(tag)", "*"] {
            let answer = try await scene.api.get("/v1/jobs/\(id)/file", headers: [("If-None-Match", known)])
            #expect(answer.status == 304)
            #expect(answer.body.isEmpty)
            #expect(answer.header("ETag") == tag)
        }
        let answer = try await scene.api.get("/v1/jobs/\(id)/file", headers: [("If-None-Match", "\"other\"")])
        #expect(answer.status == 200)
    }

    /// The clients read the whole file, one range or several ranges, and the API answers other requests meanwhile.
    @Test(.realProcess) func servesHundredClientsConcurrentlyAndClosesFile() async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: .succeeded)
        let bytes = scene.bytes
        try await withThrowingTaskGroup(of: Void.self) { group in
            for reader in 0..<100 {
                group.addTask { [api = scene.api] in
                    let first = reader * 1000
                    let range = ["", "bytes=\(first)-", "bytes=0-9,\(first)-"][reader % 3]
                    let headers = range.isEmpty ? [] : [(name: "Range", value: range)]
                    let answer = try await api.get("/v1/jobs/\(id)/file", headers: headers)
                    switch reader % 3 {
                    case 0: #expect(answer.status == 200 && answer.body == bytes)
                    case 1: #expect(answer.status == 206 && answer.body == Array(bytes[first...]))
                    default: #expect(answer.status == 206 && answer.body.count > 200_010 - first)
                    }
                }
            }
            group.addTask { [api = scene.api] in
                let job = try await api.job(id)
                #expect(job["state"] == "succeeded")
            }
            try await group.waitForAll()
        }
        // Every descriptor of the file is closed.
        _ = try await eventually("the descriptors to be closed") {
            let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(scene.process.pid)/fd")
            let targets = open.compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(scene.process.pid)/fd/\($0)")
            }
            return targets.contains { $0.hasSuffix("/downloads/file") } ? nil : true
        }
    }

    @Test func servesWholeFileWhenIfRangeDiffersOrFileWasModified() async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: .succeeded)
        let tag = try #require(try await scene.api.get("/v1/jobs/\(id)/file").header("ETag"))
        func status(_ condition: String) async throws -> Int {
            let headers = [(name: "Range", value: "bytes=0-9"), (name: "If-Range", value: condition)]
            return try await scene.api.get("/v1/jobs/\(id)/file", headers: headers).status
        }
        #expect(try await status(tag) == 206)
        #expect(try await status("\"other\"") == 200)
        #expect(try await status("W/\(tag)") == 200)
        #expect(tag.hasPrefix("\"" + SHA.hexadecimal(of: scene.bytes)))
        // Another program writes to it, as many bytes or fewer: it is another file now, with an unknown hash.
        let file = try FileHandle(forWritingTo: URL(filePath: scene.fetchd.folder.path("downloads/file")))
        var tags = [tag]
        for size in [200_000, 1] {
            try file.seek(toOffset: 0)
            try file.write(contentsOf: Data([scene.bytes[0] ^ 1]))
            try file.truncate(atOffset: UInt64(size))
            #expect(try await status(tag) == 200)
            let answer = try await scene.api.get("/v1/jobs/\(id)/file")
            #expect(answer.status == 200)
            #expect(answer.body == [scene.bytes[0] ^ 1] + scene.bytes[1..<size])
            tags.append(try #require(answer.header("ETag")))
            #expect(!tags[tags.count - 1].contains(SHA.hexadecimal(of: scene.bytes)))
        }
        #expect(Set(tags).count == 3)
    }

    /// Another file at the same path, of another job or another program, is neither served nor deleted for this job.
    @Test(arguments: ["removed", "replaced", "rewritten"])
    func answers410AndKeepsOtherFileAtSamePath(_ way: String) async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: .succeeded)
        let path = scene.fetchd.folder.path("downloads/file")
        var other: String?
        switch way {
        case "removed":
            try FileManager.default.removeItem(atPath: path)
            other = try await scene.api.submit(scene.order())
        case "replaced":
            let order = scene.order().with(["destination": ["filename": "file", "on_conflict": "replace"]])
            other = try await scene.api.submit(order)
        default:
            try Data(scene.bytes).write(to: URL(filePath: path + ".copy"))
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.moveItem(atPath: path + ".copy", toPath: path)
        }
        if let other {
            #expect(try await scene.api.waitForJob(other, .succeeded)["file"]["path"] == "file")
        }
        let answer = try await scene.api.get("/v1/jobs/\(id)/file")
        #expect(answer.status == 410)
        #expect(answer.problem == .init(kind: "file-gone"))
        #expect(try await scene.api.delete("/v1/jobs/\(id)?file=delete").status == 204)
        #expect(scene.fetchd.downloaded("file") == scene.bytes)
        if let other {
            #expect(try await scene.api.get("/v1/jobs/\(other)/file").body == scene.bytes)
            #expect(try await scene.api.delete("/v1/jobs/\(other)?file=delete").status == 204)
            #expect(scene.fetchd.downloaded("file") == nil)
        }
    }

    @Test(arguments: [JobState.Kind.queued, .running, .waiting, .paused, .failed, .cancelled])
    func answers409ForFileBeforeSuccess(_ state: JobState.Kind) async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: state)
        let answer = try await scene.api.get("/v1/jobs/\(id)/file")
        #expect(answer.status == 409)
        #expect(answer.problem == .init(kind: "state-conflict"))
    }

    @Test func answers410WhenFileIsMissing() async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: .succeeded)
        try FileManager.default.removeItem(atPath: scene.fetchd.folder.path("downloads/file"))
        let answer = try await scene.api.get("/v1/jobs/\(id)/file")
        #expect(answer.status == 410)
        #expect(answer.problem == .init(kind: "file-gone"))
        #expect(try await scene.api.job(id)["state"] == "succeeded")
    }

    @Test func servesEmptyFile() async throws {
        let scene = try await Scene()
        scene.origin.serve("/empty", .file([]))
        let id = try await scene.api.submit(scene.order("/empty"))
        let job = try await scene.api.waitForJob(id, .succeeded)
        #expect(job["progress"]["fraction"] == 1)
        let answer = try await scene.api.get("/v1/jobs/\(id)/file")
        #expect(answer.status == 200)
        #expect(answer.body.isEmpty)
        let range = try await scene.api.get("/v1/jobs/\(id)/file", headers: [("Range", "bytes=0-")])
        #expect(range.status == 416)
    }

    @Test func encodesFilenameInContentDisposition() async throws {
        let scene = try await Scene()
        let order = scene.order().with([
            "destination": ["directory": "ordner", "filename": "Übersicht \"1\"; x%41.pdf"]
        ])
        let id = try await scene.api.submit(order)
        try await scene.api.waitForJob(id, .succeeded)
        let answer = try await scene.api.get("/v1/jobs/\(id)/file")
        #expect(
            answer.header("Content-Disposition") == "attachment; filename=\"_bersicht _1_; x_41.pdf\"; "
                + "filename*=UTF-8''%C3%9Cbersicht%20%221%22%3B%20x%2541%2Epdf")
    }
}
