import Foundation
import TestKit
import Testing

/// examples/download.sh, as a user would type it.
@Suite struct DownloadScriptTests {
    private let bytes = Content.random(seed: 29, count: 200_000)
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func script(_ url: String, _ arguments: [String], token: String? = nil) async throws -> ChildProcess {
        try await ChildProcess(
            Project.path("examples/download.sh"), arguments,
            environment: ["FETCHD_URL": url].merging(token.map { ["FETCHD_TOKEN": $0] } ?? [:]) { $1 },
            workingFolder: folder.path)
    }

    @Test func downloadsFileAcrossRestartOfService() async throws {
        let (fetchd, origin, gate) = (
            try await FetchdProcess.start(.init(token: #"corr\ect"horse"#, keepsPort: true)), try Origin(), Gate()
        )
        origin.serve("/film.mkv", .file(bytes), .waiting(at: 100_000, for: gate).once)
        let child = try await script(fetchd.baseURL, [origin.url("/film.mkv")], token: #"corr\ect"horse"#)
        _ = try await eventually("half of the file") {
            child.output.contains("running, 0.1 MiB of 0.2 MiB, 50 %\n") ? true : nil
        }
        try await fetchd.kill()
        _ = try await eventually("the script to notice the lost service") {
            child.errors.contains("Is it running (fetchd serve)?") ? true : nil
        }
        gate.open()
        try await fetchd.restart()
        #expect(try await child.waitForEnd() == .exited(0), "\(child.errors)")
        #expect(child.output.hasSuffix("succeeded, 0.2 MiB of 0.2 MiB, 100 %\nfilm.mkv\n"), "\(child.output)")
        let isSame = folder.bytes(of: "film.mkv") == bytes
        #expect(isSame)
        #expect(folder.files == ["film.mkv"])
    }

    @Test func reportsFailureAndExitsWithOne() async throws {
        let (fetchd, origin) = (try await FetchdProcess.start(), try Origin())
        let child = try await script(fetchd.baseURL, [origin.url("/missing.bin"), "here.bin"])
        #expect(try await child.waitForEnd() == .exited(1))
        #expect(child.errors.hasPrefix("download: bad_status: "), "\(child.errors)")
        #expect(child.errors.contains("404"))
        #expect(folder.files == [])
    }

    /// Ctrl-C ends the script and not the download.
    @Test func interruptEndsScriptButNotDownload() async throws {
        let (fetchd, origin, gate) = (try await FetchdProcess.start(), try Origin(), Gate())
        origin.serve("/film.mkv", .file(bytes), .waiting(at: 100_000, for: gate))
        let child = try await script(fetchd.baseURL, [origin.url("/film.mkv")])
        _ = try await eventually("half of the file") { child.output.contains("50 %") ? true : nil }
        child.signal(SIGINT)
        gate.open()
        #expect(try await child.waitForEnd() == .exited(130))
        let id = try #require(try await fetchd.api.get("/v1/jobs").json["jobs"][0]["id"].string)
        #expect(child.errors.contains("goes on without this script: curl \(fetchd.baseURL)/v1/jobs/\(id)"))
        try await fetchd.api.waitForJob(id, .succeeded)
    }

    /// Each mistake is reported with what to do about it.
    @Test func explainsMistakesOfCaller() async throws {
        let (fetchd, origin) = (try await FetchdProcess.start(.init(token: "correct")), try Origin())
        origin.serve("/a.bin", .file(bytes))
        origin.serve("/v1/jobs", .fixed(status: 200, body: Array("<html>".utf8)))
        func expect(
            _ sentence: String, _ url: String, _ arguments: [String], token: String? = "correct",
            at location: SourceLocation = #_sourceLocation
        ) async throws {
            let child = try await script(url, arguments, token: token)
            #expect(try await child.waitForEnd() == .exited(2), sourceLocation: location)
            #expect((child.output + child.errors).contains(sentence), "\(child.errors)", sourceLocation: location)
        }
        let address = origin.url("/a.bin")
        try await expect("examples/download.sh URL [FILE]", fetchd.baseURL, [])
        try await expect("A value is not valid. ", fetchd.baseURL, ["nonsense"])
        try await expect("That is FETCHD_TOKEN here.", fetchd.baseURL, [address], token: "wrong")
        try await expect("but not as fetchd does. Is FETCHD_URL right?", origin.url(""), [address])
        try await expect("Is it running (fetchd serve)", "http://127.0.0.1:1", [address])
        try folder.write("mine", to: "a.bin")
        try await expect("a.bin is there already. Name another", fetchd.baseURL, [address])
        #expect(folder.bytes(of: "a.bin") == Array("mine".utf8))
    }
}
