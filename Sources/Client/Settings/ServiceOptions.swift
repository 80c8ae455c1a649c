import ArgumentParser

/// What every client command takes.
struct ServiceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Where the service is. (default: FETCHD_URL, else the configuration file, else \(ServiceAddress.standard))",
            valueName: "address"))
    var url: String?

    @Option(
        help: ArgumentHelp(
            "The bearer token. Others can see command lines: prefer FETCHD_TOKEN, --token-file or the configuration file.",
            valueName: "token"))
    var token: String?

    @Option(help: ArgumentHelp("A file with the bearer token.", valueName: "file"), completion: .file())
    var tokenFile: String?

    @Option(
        help: ArgumentHelp(
            "Certificates (PEM) to trust instead of the system's; also FETCHD_CA_FILE.", valueName: "file"),
        completion: .file())
    var caFile: String?

    @Flag(help: "Print JSON, the API's own documents, for programs; problems as JSON on standard error.")
    var json = false

    /// For completions: a shell does not wait.
    @Option(help: ArgumentHelp("How long an answer may take.", valueName: "seconds", visibility: .hidden))
    var patience: Double?

    var flags: ClientSettings.Flags {
        ClientSettings.Flags(url: url, token: token, tokenFile: tokenFile, caFile: caFile)
    }
}
