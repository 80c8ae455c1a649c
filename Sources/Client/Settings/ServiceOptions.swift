import ArgumentParser

/// The options of every client command.
struct ServiceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The address of the service. (default: FETCHD_URL, configuration file, or \(ServiceAddress.standard))",
            valueName: "address"))
    var url: String?

    @Option(
        help: ArgumentHelp(
            "The bearer token. Other users can read command lines: prefer FETCHD_TOKEN, --token-file or the configuration file.",
            valueName: "token"))
    var token: String?

    @Option(help: ArgumentHelp("A file with the bearer token.", valueName: "file"), completion: .file())
    var tokenFile: String?

    @Option(
        help: ArgumentHelp(
            "Certificates (PEM) to trust instead of the system's; also FETCHD_CA_FILE.", valueName: "file"),
        completion: .file())
    var caFile: String?

    @Flag(help: "Print the JSON documents of the API. Errors are JSON, too, on standard error.")
    var json = false

    /// For completions, which must not delay the shell.
    @Option(help: ArgumentHelp("The total timeout of a request.", valueName: "duration", visibility: .hidden))
    var patience: DurationArgument?

    var flags: ClientSettings.Flags {
        ClientSettings.Flags(url: url, token: token, tokenFile: tokenFile, caFile: caFile)
    }
}
