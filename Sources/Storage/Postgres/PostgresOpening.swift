/// Opens a store on PostgreSQL. The data folder has the key of the store and nothing else.
struct PostgresOpening {
    let database: OpenedDatabase

    init(_ url: String, _ folder: DataFolder, _ options: Store.Options) throws(StoreError) {
        let engine = try PostgresEngine(
            url: url, requiresDurability: !options.acceptsUnsafeServer,
            node: PostgresMembership.Applicant(
                id: try NodeFile.identifier(in: folder), place: NodePlace(of: folder), description: options.node,
                log: options.log))
        do {
            let unlocking = try Unlocking(
                folder, options.key, database: engine.name, node: engine.node?.number,
                acceptsLoss: options.acceptsLostSecrets)
            try engine.read(unlocking.verify)
            let sealer = Sealer(keys: try unlocking.keyring(engine, options.log))
            guard let history = try engine.read(History.read) else {
                throw StoreError.databaseUnreadable(path: engine.name, why: "it has no history")
            }
            database = OpenedDatabase(engine: engine, sealer: sealer, history: history)
        } catch {
            engine.close()
            throw StoreError(error)
        }
    }
}
