import Formats
import Foundation
import TestKit
import Testing

/// A job's `checksum` can be the address of a list of digests. Real programs make the lists and their signatures.
@Suite struct ChecksumFileTests {
    private let scene: Scene
    private let folder: TemporaryFolder
    private var api: APIClient { scene.api }
    private var origin: Origin { scene.origin }
    private var bytes: [UInt8] { scene.bytes }
    private let other = Content.random(seed: 8, count: 200_000)

    init() async throws {
        scene = try await Scene()
        folder = try TemporaryFolder()
    }

    // MARK: Lists

    private static let makers = [
        "sha256sum file > SHA256SUMS", "sha256sum --binary file > sha256sum.txt", "sha512sum ./file > SHA512SUMS",
        "sha1sum --tag file > CHECKSUM", "md5sum --zero file > MD5SUMS", "cat file | sha256sum > file.sha256",
        "shasum --algorithm 256 file > SHASUMS256.txt", "shasum --algorithm 512 --binary file > sums",
        "openssl dgst -sha256 file > sums", "openssl dgst -sha512 -r file > sums",
        "(echo '# of today'; sha256sum file other) | sed 's/$/\\r/' > sums", "sha256sum file | cut -d ' ' -f 1 > sums",
    ]

    /// Each maker lists the right file and another one. No other bytes become a file.
    @Test(arguments: makers) func acceptsTheListedBytesOnly(_ maker: String) async throws {
        let name = try #require(maker.split(separator: " ").last.map(String.init))
        for (made, isRight) in [(bytes, true), (other, false)] {
            try write(made, to: "file")
            try write(bytes, to: "other")
            try await run(maker)
            let list = "/\(isRight)/\(name)"
            origin.serve(list, .file(try #require(folder.bytes(of: name))))
            let job = try await scene.outcome("/file", listed(list))
            guard isRight else {
                #expect(try await scene.failed(job, "checksum_mismatch"), "\(job.written)")
                continue
            }
            #expect(job["state"] == "succeeded", "\(job.written)")
            let receipt = job["receipt"]
            #expect(receipt["verified_by"] == ["checksum"])
            #expect(receipt["checksum"]["url"] == .string(origin.url(list)))
            #expect(receipt["checksum"]["signature"] == .null)
        }
    }

    @Test func choosesTheLineByTheURLOrByItsName() async throws {
        let right = Sums.hexadecimal(.sha256, of: bytes)
        let wrong = Sums.hexadecimal(.sha256, of: other)
        origin.serve("/SHA256SUMS", .file(Array("\(wrong)  a/file\n\(right)  b/file\n\(right)  c d.iso\n".utf8)))
        origin.serve("/c%20d.iso", .file(bytes))
        let byURL = try await scene.outcome("/c%20d.iso", listed("/SHA256SUMS"))
        #expect(byURL["state"] == "succeeded")
        #expect(byURL["receipt"]["checksum"]["file"] == "c d.iso")
        #expect(byURL["receipt"]["checksum"]["value"] == .string(right))
        let byName = try await scene.outcome("/file", listed("/SHA256SUMS", ("file", "b/file")))
        #expect(byName["receipt"]["checksum"]["file"] == "b/file")
        for (path, name) in [("/file", nil), ("/file", "file"), ("/file", "d/file")] as [(String, String?)] {
            let job = try await scene.outcome(path, listed("/SHA256SUMS", ("file", .optional(name))))
            #expect(try await scene.failed(job, "checksum_unavailable"), "\(job.written)")
            // Nothing was transferred for a file that cannot be verified.
            #expect(job["failure"]["attempts"] == 1)
        }
        #expect(origin.requests(to: "/file").count == 1)
    }

    @Test func refusesAListThatIsTooLarge() async throws {
        let line = "\(Sums.hexadecimal(.sha256, of: bytes))  file\n"
        origin.serve("/exact", .file(Array((line + String(repeating: "#", count: (1 << 20) - line.utf8.count)).utf8)))
        origin.serve("/large", .file(Array((line + String(repeating: "#", count: 1 << 20)).utf8)))
        #expect(try await scene.outcome("/file", listed("/exact"))["state"] == "succeeded")
        let job = try await scene.outcome("/file", listed("/large"))
        #expect(try await scene.failed(job, "checksum_unavailable"))
        #expect(job["failure"]["message"].string?.contains("larger than 1048576 bytes") == true)
    }

    // MARK: Waiting

    @Test func waitsForAListThatIsNotThere() async throws {
        serveList("/SHA256SUMS", of: bytes, .answering(404).first(2), .closing(after: 3).on(3...3))
        let job = try await scene.outcome("/file", listed("/SHA256SUMS"))
        #expect(job["state"] == "succeeded", "\(job.written)")
        #expect(try await scene.waits(of: job) == Array(repeating: "checksum_unavailable", count: 3))
        #expect(origin.requests(to: "/file").count == 1)
        let never = try await scene.outcome(
            "/file", listed("/nothing"), ("retry", ["max_attempts": 2, "base_seconds": 0.01]))
        #expect(try await scene.failed(never, "checksum_unavailable"))
        #expect(never["failure"]["attempts"] == 2 && never["failure"]["status"] == 404)
        #expect(origin.requests(to: "/file").count == 1)
    }

    /// One job asks, and the other waits for its answer. Both stop at once, and a third job asks again.
    @Test func stopsWhileTheListIsAwaited() async throws {
        serveList("/SHA256SUMS", of: bytes, .waiting(at: 10, for: scene.gate).once)
        let checksum: JSON = ["url": .string(origin.url("/SHA256SUMS"))]
        var ids: [String] = []
        for _ in 0..<2 {
            ids.append(try await api.submit(["url": .string(origin.url("/file")), "checksum": checksum]))
        }
        _ = try await eventually("the list to be requested") {
            origin.requests(to: "/SHA256SUMS").count == 1 ? true : nil
        }
        for id in ids { try await api.waitForJob(id, .running) }
        try await api.act(.pause, on: ids[1])
        try await api.waitForJob(ids[1], .paused)
        try await api.act(.cancel, on: ids[0])
        try await api.waitForJob(ids[0], .cancelled)
        try await api.act(.resume, on: ids[1])
        try await api.waitForJob(ids[1], .succeeded)
        scene.gate.open()
        #expect(origin.requests(to: "/SHA256SUMS").count == 2 && origin.requests(to: "/file").count == 1)
    }

    @Test func asksAnAddressOnlyIfTheServiceMay() async throws {
        let job = try await scene.outcome("/file", ("checksum", ["url": "http://10.1.2.3/SHA256SUMS"]))
        #expect(job["failure"]["code"] == "blocked_address" && job["failure"]["attempts"] == 1, "\(job.written)")
        #expect(job["failure"]["message"].string?.hasPrefix("The checksum file ") == true)
    }

    /// Headers and credentials of the job belong to the origin of its URL.
    @Test func sendsCredentialsToTheOriginOfTheFileOnly() async throws {
        let elsewhere = try Origin()
        let members: [(String, JSON)] = [
            ("headers", ["X-Key": "secret"]), ("credentials", ["type": "bearer", "token": "abc"]),
        ]
        serveList("/SHA256SUMS", of: bytes)
        elsewhere.serve("/SHA256SUMS", origin.resource("/SHA256SUMS", of: bytes))
        for url in [origin.url("/SHA256SUMS"), elsewhere.url("/SHA256SUMS")] {
            let job = try await scene.outcome("/file", members[0], members[1], ("checksum", ["url": .string(url)]))
            #expect(job["state"] == "succeeded", "\(job.written)")
        }
        let (home, away) = (origin.requests(to: "/SHA256SUMS"), elsewhere.requests(to: "/SHA256SUMS"))
        #expect(
            home.count == 1 && home[0].header("X-Key") == "secret" && home[0].header("Authorization") == "Bearer abc")
        #expect(away.count == 1 && away[0].header("X-Key") == nil && away[0].header("Authorization") == nil)
    }

    @Test func aThousandJobsShareOneRequest() async throws {
        let names = (0..<1000).map { "part-\($0)" }
        let files = names.map { Array($0.utf8) }
        let list = zip(names, files).map { "\(Sums.hexadecimal(.sha256, of: $1))  \($0)\n" }.joined()
        origin.serve("/SHA256SUMS", .file(Array(list.utf8)))
        for (name, bytes) in zip(names, files) { origin.serve("/\(name)", .file(bytes)) }
        let checksum: JSON = ["url": .string(origin.url("/SHA256SUMS"))]
        let jobs = names.map { JSON.object(["url": .string(origin.url("/\($0)")), "checksum": checksum]) }
        #expect(try await api.post("/v1/jobs/batch", ["jobs": .array(jobs)]).status == 201)
        _ = try await eventually("all jobs to succeed") {
            try await api.session()["counts"]["succeeded"] == 1000 ? true : nil
        }
        #expect(origin.requests(to: "/SHA256SUMS").count == 1)
    }

    // MARK: A list that changes

    /// The list changes while the job is paused. The new digest holds, and the job says so.
    @Test(arguments: ["\"v1\"", "W/\"v1\""]) func readsTheListAgainAfterAPause(_ etag: String) async throws {
        serveList("/SHA256SUMS", of: other, .serving(origin.resource("/SHA256SUMS", of: bytes)).on(2...))
        origin.serve("/slow", .file(bytes, etag: etag), .waiting(at: 100_000, for: scene.gate).once)
        let id = try await api.submit([
            "url": .string(origin.url("/slow")),
            "checksum": ["url": .string(origin.url("/SHA256SUMS")), "file": "file"],
        ])
        try await scene.waitForPromise(of: id, atLeast: 100_000)
        try await api.act(.pause, on: id)
        try await api.waitForJob(id, .paused)
        scene.gate.open()
        try await api.act(.resume, on: id)
        let job = try await api.waitForJob(id, .succeeded)
        #expect(job["resume"]["why"] == "checksum_changed", "\(job.written)")
        #expect(job["resume"]["decision"] == (etag.hasPrefix("W") ? "restarted" : "resumed"))
        #expect(job["receipt"]["checksum"]["value"] == .string(Sums.hexadecimal(.sha256, of: bytes)))
        #expect(scene.has("slow", bytes))
    }

    @Test func asksWithTheTagOfTheKnownList() async throws {
        let list = Array("\(Sums.hexadecimal(.sha256, of: bytes))  file\n".utf8)
        origin.serve(
            "/SHA256SUMS",
            OriginResource { request in
                request.header("If-None-Match") == "\"s\""
                    ? OriginAnswer(status: 304) : OriginAnswer(headers: [("ETag", "\"s\"")], body: list)
            })
        origin.serve("/file", .file(bytes), .closing(after: 60_000).first(2))
        let job = try await scene.outcome("/file", listed("/SHA256SUMS"))
        #expect(job["state"] == "succeeded", "\(job.written)")
        #expect(origin.requests(to: "/SHA256SUMS").map { $0.header("If-None-Match") } == [nil, "\"s\"", "\"s\""])
    }

    /// A job that shares a list which is outdated by now reads the present one before it fails.
    @Test func readsASharedListAgainBeforeItFails() async throws {
        origin.serve("/next", .file(other))
        let lists = [bytes, other].map {
            "\(Sums.hexadecimal(.sha256, of: bytes))  file\n\(Sums.hexadecimal(.sha256, of: $0))  next\n"
        }
        origin.serve("/SHA256SUMS", .file(Array(lists[0].utf8)), .serving(.file(Array(lists[1].utf8))).on(2...))
        #expect(try await scene.outcome("/file", listed("/SHA256SUMS"))["state"] == "succeeded")
        let job = try await scene.outcome("/next", listed("/SHA256SUMS"))
        #expect(job["state"] == "succeeded", "\(job.written)")
        #expect(scene.has("next", other))
    }

    // MARK: Signatures

    /// `%` is the name of the list.
    private static let signers = [
        ("minisign", "minisign -S -s one.key -m % -x sig -t 'of today'"),
        ("minisign", "minisign -S -l -s one.key -m % -x sig"),
        ("signify", "signify-openbsd -S -s one.sec -m % -x sig"),
        ("signify", "signify-openbsd -S -e -s one.sec -m % -x sig"),
    ]

    @Test(arguments: signers) func verifiesTheSignatureOfTheList(_ kind: String, _ sign: String) async throws {
        let (one, two) = try await keys(kind)
        try write(bytes, to: "file")
        try await run("sha256sum file > SHA256SUMS; \(sign.replacing("%", with: "SHA256SUMS"))")
        let (list, signature) = (try #require(folder.bytes(of: "SHA256SUMS")), try #require(folder.bytes(of: "sig")))
        origin.serve("/SHA256SUMS", .file(list))
        origin.serve("/sig", .file(signature))
        let job = try await scene.outcome("/file", signed(kind, "/sig", [one]))
        #expect(job["state"] == "succeeded", "\(job.written)")
        let receipt = job["receipt"]["checksum"]["signature"]
        #expect(receipt["type"] == .string(kind) && receipt["key"] == .string(one), "\(receipt)")
        #expect((receipt["trusted_comment"] == .null) == (kind == "signify"))
        // While keys are rotated, both are given.
        #expect(try await scene.outcome("/file", signed(kind, "/sig", [two, one]))["state"] == "succeeded")
        let unknown = try await scene.outcome("/file", signed(kind, "/sig", [two]))
        #expect(try await scene.failed(unknown, "signature_invalid"), "\(unknown.written)")
        // Each byte counts: of the list, of the signature, and of the comment that it covers.
        origin.serve("/other/SHA256SUMS", .file(list + [0x0A]))
        let wrong = try await scene.outcome("/file", signed(kind, "/sig", [one], of: "/other/SHA256SUMS"))
        #expect(try await scene.failed(wrong, "signature_invalid"), "\(wrong.written)")
        for (index, forged) in forgeries(of: signature, kind).enumerated() {
            origin.serve("/forged\(index)", .file(forged))
            let job = try await scene.outcome("/file", signed(kind, "/forged\(index)", [one]))
            #expect(try await scene.failed(job, "signature_invalid"), "\(job.written)")
        }
        #expect(origin.requests(to: "/file").count == 2)
    }

    @Test func waitsForASignatureThatIsNotThere() async throws {
        let (one, _) = try await keys("minisign")
        try write(bytes, to: "file")
        try await run("sha256sum file > SHA256SUMS; minisign -S -s one.key -m SHA256SUMS -x sig")
        origin.serve("/SHA256SUMS", .file(try #require(folder.bytes(of: "SHA256SUMS"))))
        origin.serve("/sig", .file(try #require(folder.bytes(of: "sig"))), .answering(404).once)
        let job = try await scene.outcome("/file", signed("minisign", "/sig", [one]))
        #expect(job["state"] == "succeeded", "\(job.written)")
        #expect(try await scene.waits(of: job) == ["checksum_unavailable"])
    }

    private func forgeries(of signature: [UInt8], _ kind: String) -> [[UInt8]] {
        let lines = String(decoding: signature, as: UTF8.self).split(separator: "\n").map(String.init)
        var forgeries = [[], Array("\(lines[0])\n".utf8), Array("\(lines[0])\n\(lines[1].dropLast(4))\n".utf8)]
        var flipped = Array(lines[1].utf8)
        flipped[40] = flipped[40] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        forgeries.append(
            Array(([lines[0], String(decoding: flipped, as: UTF8.self)] + lines[2...]).joined(separator: "\n").utf8))
        if kind == "minisign" {
            forgeries.append(Array(([lines[0], lines[1], lines[2] + "!", lines[3]]).joined(separator: "\n").utf8))
            forgeries.append(Array(lines[...1].joined(separator: "\n").utf8))
        }
        return forgeries
    }

    /// Makes two pairs of keys without passwords, and returns their public lines.
    private func keys(_ kind: String) async throws -> (one: String, two: String) {
        for name in ["one", "two"] {
            try await run(
                kind == "minisign"
                    ? "minisign -G -W -p \(name).pub -s \(name).key"
                    : "signify-openbsd -G -n -p \(name).pub -s \(name).sec")
        }
        return (try publicLine("one.pub"), try publicLine("two.pub"))
    }

    private func publicLine(_ name: String) throws -> String {
        let text = String(decoding: try #require(folder.bytes(of: name)), as: UTF8.self)
        return try #require(text.split(separator: "\n").last.map(String.init))
    }

    // MARK: Requests

    @Test(arguments: [
        (#"{"url": "ftp://h/x"}"#, "/checksum/url"), (#"{"url": "http://u:p@h/x"}"#, "/checksum/url"),
        (#"{"url": "http://h/x", "value": "00"}"#, "/checksum/url"), (#"{"file": "x"}"#, "/checksum/file"),
        (#"{"url": "http://h/x", "file": ""}"#, "/checksum/file"),
        (#"{"url": "http://h/x", "keys": []}"#, "/checksum/keys"),
        (
            #"{"url": "http://h/x", "signature": {"type": "gpg", "url": "http://h/y", "keys": []}}"#,
            "/checksum/signature/type"
        ),
        (#"{"url": "http://h/x", "signature": {"type": "minisign", "keys": []}}"#, "/checksum/signature/url"),
        (#"{"url": "http://h/x", "signature": {"type": "minisign", "url": "http://h/y"}}"#, "/checksum/signature/keys"),
        (
            #"{"url": "http://h/x", "signature": {"type": "minisign", "url": "http://h/y", "keys": ["RW"]}}"#,
            "/checksum/signature/keys/0"
        ),
    ])
    func refusesWhatCannotBeRead(_ checksum: String, _ pointer: String) async throws {
        let answer = try await api.post(
            "/v1/jobs", ["url": .string(origin.url("/file")), "checksum": try JSON(parsing: Array(checksum.utf8))])
        #expect(answer.status == 422 && answer.json["pointer"] == .string(pointer), "\(answer.json.written)")
    }

    @Test func refusesAURLWithoutANameToLookFor() async throws {
        let order: JSON = ["url": .string(origin.url("/")), "checksum": ["url": .string(origin.url("/SHA256SUMS"))]]
        let answer = try await api.post("/v1/jobs", order)
        #expect(answer.status == 422 && answer.json["pointer"] == "/checksum/file", "\(answer.json.written)")
    }
}

extension ChecksumFileTests {
    private func run(_ command: String) async throws {
        let outcome = try await ChildProcess.run(
            "/bin/bash", ["-euo", "pipefail", "-c", command], workingFolder: folder.path)
        try #require(outcome.ending == .exited(0), "\(command): \(outcome.errors)")
    }

    private func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(filePath: folder.path(name)))
    }

    private func listed(_ path: String, _ members: (String, JSON)...) -> (String, JSON) {
        var checksum: JSONObject = ["url": .string(origin.url(path))]
        for (name, value) in members { checksum[name] = value }
        return ("checksum", .object(checksum))
    }

    private func signed(
        _ kind: String, _ path: String, _ keys: [String], of list: String = "/SHA256SUMS"
    ) -> (String, JSON) {
        listed(list, ("signature", ["type": .string(kind), "url": .string(origin.url(path)), "keys": .strings(keys)]))
    }

    private func serveList(_ path: String, of bytes: [UInt8], _ behaviours: OriginBehaviour...) {
        origin.serve(path, origin.resource(path, of: bytes), behaviours)
    }
}

extension Origin {
    /// A list with the digest of `file`.
    fileprivate func resource(_ path: String, of bytes: [UInt8]) -> OriginResource {
        .file(Array("\(Sums.hexadecimal(.sha256, of: bytes))  file\n".utf8), etag: nil)
    }
}

extension Scene {
    /// Whether a job failed with this code and left neither a file nor a receipt.
    fileprivate func failed(_ job: JSON, _ code: String) async throws -> Bool {
        job["state"] == "failed" && job["failure"]["code"] == .string(code) && job["file"] == .null
            && job["receipt"] == .null
    }
}
