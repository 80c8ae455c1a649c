/// The daemons of a server: one for each socket on which it listens. They stop when this value ends.
struct Listeners: ~Copyable {
    /// The file of the Unix domain socket, which is removed when this value ends.
    private let file: UnixSocketFile?
    private let network: MHDDaemon?
    private let local: MHDDaemon?

    init(
        _ context: ServerContext, network: ListeningSocket?, local: UnixListeningSocket?
    ) throws(HTTPServerError) {
        let options = context.options
        let localShare = local == nil ? 0 : network == nil ? options.connectionLimit : options.connectionLimit / 4
        // One thread beside those of the network serves local clients, which are few.
        let localThreads = network == nil ? options.threads : 1
        let networkDaemon = try network.map { socket throws(HTTPServerError) in
            try MHDDaemon(
                context, listeningOn: socket.descriptor, threads: options.threads,
                connections: max(options.threads, options.connectionLimit - localShare))
        }
        let localDaemon = try local.map { socket throws(HTTPServerError) in
            try MHDDaemon(
                context, listeningOn: socket.descriptor, threads: localThreads,
                connections: max(localThreads, localShare))
        }
        file = local?.file
        self.network = networkDaemon
        self.local = localDaemon
    }
}
