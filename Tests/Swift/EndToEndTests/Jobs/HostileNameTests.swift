import Formats
import Foundation
import TestKit
import Testing

/// Unsafe names and symbolic links: refused from clients, sanitised from servers, and never followed.
@Suite struct HostileNameTests {
    private static let names = [
        "", ".", "..", "../a", "/etc/passwd", "a/b", "a\\b", "..\\a", ".hidden", ".part", "a.part", "a\0b", "a\nb",
        "\u{7F}",
        "a\u{202E}gpj.exe", "\u{2066}a", "\u{200F}a", " a", "a ", "a.", "CON", "nul.txt", "com1.tar.gz", "Lpt9",
        String(repeating: "a", count: 256), String(repeating: "ü", count: 128), "{", "}", "{}", "{{job_id}}", "{jobid}",
        "{suggested_filename}/x", "{suggested_filename}.part", ".{extension}",
    ]

    private static let directories = [
        "/", "/a", "..", "../a", "a/..", "a/../b", ".", "a/./b", "a//b", "a/", ".incomplete", "a/.b", "a\\..\\b",
        "CON/a", "a /b", "a\0", "a\u{202E}b", "{job_id}/../..",
    ]

    @Test func refusesUnsafeFilenameFromClient() async throws {
        let scene = try await Scene()
        let refused = APIAnswer.Problem(kind: "invalid-value", pointer: "/destination/filename")
        for name in Self.names {
            let destination: JSON = ["filename": .string(name)]
            let answer = try await scene.api.post("/v1/jobs", scene.order("/file", ("destination", destination)))
            #expect(answer.status == 422, "\(name)")
            #expect(answer.problem == refused, "\(name)")
        }
        #expect(try await scene.isUntouched())
        let id = try await scene.job(in: .paused)
        for name in Self.names {
            let answer = try await scene.api.patch(id, ["destination": ["filename": .string(name)]])
            #expect(answer.problem == refused, "\(name)")
        }
    }

    @Test func refusesUnsafeDirectoryFromClient() async throws {
        let scene = try await Scene()
        for directory in Self.directories {
            let order = scene.order("/file", ("destination", ["directory": .string(directory)]))
            let answer = try await scene.api.post("/v1/jobs", order)
            #expect(answer.status == 422, "\(directory)")
            #expect(answer.problem == .init(kind: "invalid-value", pointer: "/destination/directory"), "\(directory)")
            let session = try await scene.api.put("/v1/sessions/films", ["directory": .string(directory)])
            #expect(session.problem == .init(kind: "invalid-value", pointer: "/directory"), "\(directory)")
        }
        #expect(try await scene.isUntouched())
    }

    /// Names that servers suggest, and the names the files get.
    @Test func sanitisesFilenameSuggestedByServer() async throws {
        let scene = try await Scene()
        let long = String(repeating: "n", count: 300)
        let suggestions = [
            (#"attachment; filename="../../etc/passwd""#, "passwd"), (#"attachment; filename="/etc/shadow""#, "shadow"),
            (#"attachment; filename="..\..\autoexec.bat""#, "autoexec.bat"), (#"attachment; filename="..""#, "0"),
            (#"attachment; filename=".""#, "0"), (#"attachment; filename="""#, "0"),
            (#"attachment; filename=".bashrc""#, "bashrc"), (#"attachment; filename=". .x""#, "x"),
            (#"attachment; filename="dots...""#, "dots"), (#"attachment; filename="  spaces  ""#, "spaces"),
            (#"attachment; filename="nul.txt""#, "_nul.txt"), (#"attachment; filename="x.part""#, "x.part_"),
            ("attachment; filename*=UTF-8''a%E2%80%AEgpj.exe", "agpj.exe"),
            ("attachment; filename*=UTF-8''%2e%2e%2f%2e%2e%2fx", "x"),
            ("attachment; filename*=UTF-8''a%00b%0Ac", "abc"),
            ("attachment; filename*=UTF-8''na%C3%AFve.txt", "naïve.txt"),
            ("attachment; filename*=iso-8859-1''%A3.txt", "£.txt"),
            (#"attachment; filename="plain.txt"; filename*=UTF-8''better.txt"#, "better.txt"),
            (#"attachment; filename="\"quoted\".txt""#, "\"quoted\".txt"),
            ("attachment; filename=token.txt", "token.txt"),
            ("inline", "0"), ("attachment; filename", "0"), (#"attachment; filename="open"#, "open"),
            ("attachment; filename=\"\(long).tar.gz\"", String(repeating: "n", count: 237) + ".gz"),
        ]
        for (index, (header, name)) in suggestions.enumerated() {
            let headers = [(name: "Content-Disposition", value: header)]
            scene.origin.serve("/\(index)/0", .file([UInt8(index)], headers: headers))
            let order = scene.order("/\(index)/0", ("destination", ["directory": .string("d\(index)")]))
            let job = try await scene.api.waitForJob(scene.api.submit(order), .succeeded)
            #expect(job["file"]["path"].string == "d\(index)/\(name)", "\(header)")
            #expect(scene.fetchd.downloaded("d\(index)/\(name)") == [UInt8(index)], "\(header)")
        }
        // There is no file outside the documented paths.
        let files = scene.fetchd.folder.files.filter { !$0.hasPrefix("data/") }
        #expect(files.count == suggestions.count)
        #expect(files.allSatisfy { $0.hasPrefix("downloads/d") })
    }

    /// A safe template can become an unsafe name with the text of a server in it.
    @Test func sanitisesExpandedFilenameTemplate() async throws {
        let scene = try await Scene()
        let headers = [(name: "Content-Disposition", value: #"attachment; filename="x.part""#)]
        scene.origin.serve("/f", .file(scene.bytes, headers: headers))
        for (template, name) in [("CON{extension}", "CONpart_"), ("film.{extension}", "film.part_")] {
            let order = scene.order("/f", ("destination", ["filename": .string(template)]))
            #expect(try await scene.api.waitForJob(scene.api.submit(order), .succeeded)["file"]["path"].string == name)
        }
        scene.origin.serve("/bare", .file(scene.bytes))
        let order = scene.order("/bare", ("destination", ["filename": "NUL{extension}"]))
        #expect(try await scene.api.waitForJob(scene.api.submit(order), .succeeded)["file"]["path"] == "_NUL")
    }
}

// MARK: - Links

extension HostileNameTests {
    private func link(_ scene: Scene, _ name: String, to target: String) throws {
        let path = scene.fetchd.folder.path("downloads/\(name)")
        try? FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    }

    @Test func failsWhenDestinationContainsSymbolicLink() async throws {
        let (scene, outside) = (try await Scene(), try TemporaryFolder())
        try link(scene, "link", to: outside.path)
        try scene.fetchd.folder.write("x", to: "downloads/real/x")
        try link(scene, "real/inner", to: "../../data")
        for directory in ["link", "link/deeper", "real/inner"] {
            let order = scene.order("/file", ("destination", ["directory": .string(directory)]))
            let job = try await scene.api.waitForJob(scene.api.submit(order), .failed)
            #expect(job["failure"]["code"] == "destination_invalid", "\(directory)")
        }
        #expect(outside.files.isEmpty)
        #expect(!scene.fetchd.folder.files.contains("data/file"))
    }

    /// The kernel sees a separator before a combining mark as a separator; Swift's `Character` does not.
    @Test func treatsSeparatorWithCombiningMarkAsSeparator() async throws {
        let (scene, outside) = (try await Scene(), try TemporaryFolder())
        try link(scene, "a", to: outside.path)
        for destination: JSON in [
            ["filename": "a/\u{301}evil"], ["filename": "/\u{301}evil"], ["directory": "a/\u{301}dir"],
            ["directory": "/\u{301}tmp"], ["directory": "b/.\u{301}/c"],
        ] {
            let answer = try await scene.api.post("/v1/jobs", scene.order("/file", ("destination", destination)))
            // A name below a directory may begin with a mark, but the directory must not be a link.
            if answer.status == 201 {
                let job = try await scene.api.waitForJob(answer.json["id"].string ?? "", .failed)
                #expect(job["failure"]["code"] == "destination_invalid")
            } else {
                #expect(answer.status == 422, "\(destination.written)")
            }
        }
        for (index, name) in ["a/\u{301}evil", "/\u{301}evil", "../\u{301}evil"].enumerated() {
            let header = (name: "Content-Disposition", value: "attachment; filename=\"\(name)\"")
            scene.origin.serve("/\(index)", .file(scene.bytes, headers: [header]))
            let job = try await scene.api.waitForJob(scene.api.submit(scene.order("/\(index)")), .succeeded)
            #expect(job["file"]["path"].string?.hasPrefix("\u{301}evil") == true, "\(job.written)")
        }
        scene.origin.serve("/..%2F%CC%81evil", .file(scene.bytes))
        let job = try await scene.api.waitForJob(scene.api.submit(scene.order("/..%2F%CC%81evil")), .succeeded)
        #expect(job["file"]["path"].string?.contains("..") == false)
        #expect(outside.files.isEmpty)
    }

    /// The directory existed when the job was submitted, and became a symbolic link during the download.
    @Test func refusesDirectoryReplacedByLinkDuringDownload() async throws {
        let (scene, outside) = (try await Scene(), try TemporaryFolder())
        try scene.fetchd.folder.write("x", to: "downloads/folder/x")
        let id = try await scene.heldJob(("destination", ["directory": "folder"]))
        try link(scene, "folder", to: outside.path)
        scene.gate.open()
        #expect(try await scene.api.waitForJob(id, .failed)["failure"]["code"] == "destination_invalid")
        #expect(outside.files.isEmpty)
        // Once the link is removed, a retry places the received bytes correctly.
        try FileManager.default.removeItem(atPath: scene.fetchd.folder.path("downloads/folder"))
        try await scene.api.act(.retry, on: id)
        try await scene.api.waitForJob(id, .succeeded)
        #expect(scene.fetchd.downloaded("folder/held") == scene.bytes)
    }

    /// A symbolic link at the destination path counts as an existing file, wherever it points.
    @Test func neverWritesThroughLinkAtDestinationPath() async throws {
        let (scene, outside) = (try await Scene(), try TemporaryFolder())
        let target = try outside.write("precious", to: "target")
        let cases = [("rename", "name (1)"), ("replace", "name"), ("error", nil)]
        for (conflict, path) in cases {
            try link(scene, "name", to: target)
            let order = scene.order("/file", ("destination", ["filename": "name", "on_conflict": .string(conflict)]))
            let id = try await scene.api.submit(order)
            if let path {
                #expect(try await scene.api.waitForJob(id, .succeeded)["file"]["path"].string == path)
                #expect(scene.fetchd.downloaded(path) == scene.bytes)
            } else {
                #expect(try await scene.api.waitForJob(id, .failed)["failure"]["code"] == "destination_exists")
            }
            #expect(outside.bytes(of: "target") == Array("precious".utf8), "\(conflict)")
        }
        // A dangling link is not followed either.
        try link(scene, "dangling", to: outside.path("made"))
        let order = scene.order("/file", ("destination", ["filename": "dangling", "on_conflict": "error"]))
        let job = try await scene.api.waitForJob(scene.api.submit(order), .failed)
        #expect(job["failure"]["code"] == "destination_exists")
        #expect(outside.files == ["target"])
    }

    /// A finished file that was replaced by a symbolic link is gone (410), and the link's target is left alone.
    @Test func neverReadsOrDeletesThroughLinkInPlaceOfFinishedFile() async throws {
        let (scene, outside) = (try await Scene(), try TemporaryFolder())
        let id = try await scene.job(in: .succeeded)
        try link(scene, "file", to: try outside.write("secret", to: "target"))
        #expect(try await scene.api.get("/v1/jobs/\(id)/file").status == 410)
        #expect(try await scene.api.delete("/v1/jobs/\(id)?file=delete").status == 204)
        #expect(outside.bytes(of: "target") == Array("secret".utf8))
    }
}
