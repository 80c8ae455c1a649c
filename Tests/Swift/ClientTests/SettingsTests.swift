import Foundation
import TestKit
import Testing

@testable import Client

/// Flags, environment, configuration file and defaults, in this order of precedence.
@Suite struct SettingsTests {
    private let folder: TemporaryFolder
    private let file: String

    init() throws {
        folder = try TemporaryFolder()
        file = folder.path("fetchd/config.json")
    }

    private func settings(
        _ flags: ClientSettings.Flags = .init(), _ environment: [String: String] = [:]
    ) throws -> ClientSettings {
        try ClientSettings(flags, environment: environment.merging(["XDG_CONFIG_HOME": folder.path]) { $1 })
    }

    @Test func prefersFlagsToEnvironmentToFile() throws {
        #expect(try settings().address.baseURL == "http://127.0.0.1:8080")
        #expect(try settings().token == nil)
        try folder.write(
            #"{"url": "https://file.example/", "token": "file", "ca_file": "/file"}"#, to: "fetchd/config.json")
        #expect(try settings().address.baseURL == "https://file.example")
        #expect(try settings().token == "file" && settings().caFile == "/file")
        let environment = ["FETCHD_URL": "environment.example:1", "FETCHD_TOKEN": "environment"]
        #expect(try settings(.init(), environment).address.baseURL == "http://environment.example:1")
        #expect(try settings(.init(), environment).token == "environment")
        try folder.write("from-a-file\n", to: "token")
        var flags = ClientSettings.Flags(url: "http://flag.example/behind/", tokenFile: folder.path("token"))
        #expect(try settings(flags, environment).address.baseURL == "http://flag.example/behind")
        #expect(try settings(flags, environment).token == "from-a-file")
        flags.token = "flag"
        #expect(try settings(flags, environment).token == "flag")
        // An empty variable counts as unset.
        #expect(try settings(.init(), ["FETCHD_URL": "", "FETCHD_TOKEN": ""]).token == "file")
    }

    /// A command with another URL does not send the file's token there.
    @Test func sendsTokenOfFileOnlyToItsURL() throws {
        try folder.write(#"{"url": "https://file.example", "token": "file"}"#, to: "fetchd/config.json")
        #expect(try settings(.init(url: "https://file.example/")).token == "file")
        for elsewhere in [
            try settings(.init(url: "https://other.example")), try settings(.init(), ["FETCHD_URL": "x"]),
        ] {
            #expect(elsewhere.token == nil && elsewhere.isTokenWithheld)
        }
        #expect(try settings(.init(url: "https://other.example"), ["FETCHD_TOKEN": "mine"]).token == "mine")
        // A token without a URL is for the default URL.
        try folder.write(#"{"token": "file"}"#, to: "fetchd/config.json")
        #expect(try settings().token == "file" && settings().isTokenWithheld == false)
        #expect(try settings(.init(url: "https://other.example")).token == nil)
    }

    @Test func ignoresInvalidFileWhenFlagsSuffice() throws {
        try folder.write("{", to: "fetchd/config.json")
        #expect(try settings(.init(url: "http://host", token: "flag")).token == "flag")
    }

    @Test func reportsDirectoryInPlaceOfFile() throws {
        try folder.write("", to: "fetchd/config.json/x")
        let error = #expect(throws: ClientError.self) { try settings() }
        #expect(error?.status == .misconfigured)
        #expect(error?.sentence == "\(file) cannot be read: Is a directory.")
    }

    @Test func warnsWhenOthersCanReadToken() throws {
        try folder.write(#"{"token": "secret"}"#, to: "fetchd/config.json")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        #expect(try settings().warnings.first?.contains("chmod 600 \(file)") == true)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        #expect(try settings().warnings.isEmpty)
        try folder.write(#"{"url": "https://file.example"}"#, to: "fetchd/config.json")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        #expect(try settings().warnings.isEmpty)
    }

    @Test(arguments: [
        "", "[]", "{", #"{"urls": "x"}"#, #"{"url": 8080}"#, #"{"url": "ftp://x"}"#, #"{"token": "a b"}"#,
    ])
    func refusesInvalidFile(_ text: String) throws {
        try folder.write(text, to: "fetchd/config.json")
        let error = #expect(throws: ClientError.self) { try settings() }
        #expect(error?.status == .misconfigured)
        #expect(error?.sentence.contains(file) == true)
    }

    @Test(arguments: [
        "", "http://", "ftp://host", "http://user:pass@host", "http://host?query", "http://host#x", "::",
        "http://host:99999", "http://host:0", "http://ho\u{7}st", "http://host/a b",
    ])
    func refusesInvalidURL(_ url: String) {
        let error = #expect(throws: ClientError.self) { try settings(.init(url: url)) }
        #expect(error?.status == .misconfigured && error?.sentence.contains("--url") == true)
    }

    @Test func findsConfigurationFile() {
        #expect(ClientSettings.filePath(["HOME": "/home/ada"]) == "/home/ada/.config/fetchd/config.json")
        #expect(
            ClientSettings.filePath(["HOME": "/home/ada", "XDG_CONFIG_HOME": "relative"])
                == "/home/ada/.config/fetchd/config.json")
    }
}
