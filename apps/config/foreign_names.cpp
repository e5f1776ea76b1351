#include "apps/config/foreign_names.h"

#include <algorithm>
#include <cctype>
#include <span>

namespace troupe::config {
namespace {

struct Foreign {
  std::string_view names;  ///< in small letters, each followed by a blank
  std::string_view advice;
};

// Without prefixes such as "tf.nn.", and without '_'.
// clang-format off
constexpr Foreign functions[] = {
    {"reducemean ", "write mean(x, axis)"},
    {"reducesum ", "write sum(x, axis)"},
    {"reducemax amax ", "write max(x, axis)"},
    {"reducemin amin ", "write min(x, axis)"},
    {"reduceprod ", "write prod(x, axis)"},
    {"dot mm ", "write matmul(a, b)"},
    {"bmm ", "write batch_matmul(x, y)"},
    {"concatenate cat ", "write concat([a, b], axis)"},
    {"view ", "write reshape(x, [-1, 8])"},
    {"permute ", "write transpose(x, [0, 2, 1])"},
    {"unsqueeze newaxis ", "write expand_dims(x, axis)"},
    {"clip clamp ", "write clip_by_value(x, low, high)"},
    {"astype to ", "write cast(x, 'float')"},
    {"float32 float ", "write 'float', in quotes"},
    {"float64 double ", "write 'double', in quotes"},
    {"numel len ", "write size(x)"},
    {"randn ", "write random_normal(shape)"},
    {"rand ", "write random_uniform(shape)"},
    {"detach ", "write stop_gradient(x)"},
    {"linear fullyconnected ", "write nn.dense(x, units=10)"},
    {"maxpooling2d maxpool ", "write nn.max_pool2d(x, window=2)"},
    {"averagepooling2d avgpool ", "write nn.avg_pool2d(x, window=2)"},
    {"globalaveragepooling2d adaptiveavgpool2d ", "write nn.global_avg_pool2d(x)"},
    {"globalmaxpooling2d adaptivemaxpool2d ", "write nn.global_max_pool2d(x)"},
    {"maxpooling1d ", "write nn.max_pool1d(x, window=2)"},
    {"averagepooling1d ", "write nn.avg_pool1d(x, window=2)"},
    {"globalaveragepooling1d adaptiveavgpool1d ", "write nn.global_avg_pool1d(x)"},
    {"globalmaxpooling1d adaptivemaxpool1d ", "write nn.global_max_pool1d(x)"},
    {"upsampling2d upsample interpolate ", "write nn.upsample2d(x, size=2)"},
    {"separableconv2d ", "write nn.depthwise_conv2d(x, kernel=3), and of its result nn.conv2d(x, filters=32, kernel=1)"},
    {"zeropadding2d ", "write pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]])"},
    {"bidirectional ", "add bidirectional=true to a layer rnn, lstm or gru"},
    {"timedistributed ", "leave it out: a dense layer is applied to each step"},
    {"leakyrelu ", "write leaky_relu(x), or activation = \"leaky_relu\" in the layer before"},
    {"instancenorm2d ", "write nn.group_norm(x, groups=32), with the number of channels"},
    {"batchnorm1d batchnorm2d batchnormalization ", "write nn.batch_norm(x)"},
    {"layernormalization ", "write nn.layer_norm(x)"},
    {"groupnormalization ", "write nn.group_norm(x, groups=8)"},
    {"multiheadattention ", "write nn.attention(x, heads=4)"},
    {"sequential model ", "write the layers as a list, model.layers"},
    {"variable parameter ", "write a table in [model.variables]"},
    {"relu ", "write relu(x), or activation = \"relu\" in the layer before"},
    {"tanh ", "write tanh(x), or activation = \"tanh\" in the layer before"},
    {"sigmoid ", "write sigmoid(x), or activation = \"sigmoid\" in the layer before"},
    {"gelu ", "write nn.gelu(x), or activation = \"gelu\" in the layer before"},
    {"geluapproximate gelunew fastgelu ", "write nn.gelu_tanh(x), or activation = \"gelu_tanh\" in the layer before"},
    {"silu swish ", "write nn.swish(x), or activation = \"swish\" in the layer before"},
    {"mish ", "write nn.mish(x), or activation = \"mish\" in the layer before"},
    {"hardswish ", "write nn.hard_swish(x), or activation = \"hard_swish\" in the layer before"},
    {"hardsigmoid hardtanh ", "write nn.hard_sigmoid(x), or minimum(maximum(x, low), high)"},
    {"swiglu geglu ", "write nn.glu(x, activation=\"swish\") or \"gelu\""},
    {"rmsnormalization rmsnorm ", "write nn.rms_norm(x)"},
    {"softmax ", "write softmax(x); the losses of classes take what the last layer yields without it"},
    {"convolution1d ", "write nn.conv1d(x, filters=32, kernel=3)"},
    {"simplernn ", "write nn.rnn(x, units=32)"},
    {"input inputlayer ", "the first layer is applied to model.input"},
    {"categoricalcrossentropy sparsecategoricalcrossentropy crossentropy crossentropyloss nllloss logloss ",
     "write nn.softmax_cross_entropy(logits, label), or train.loss = \"softmax_cross_entropy\""},
    {"binarycrossentropy bceloss bce bcewithlogitsloss ",
     "write nn.binary_cross_entropy(logits, label), or train.loss = \"binary_cross_entropy\""},
    {"kldivergence kldivloss kl ", "write nn.kl_divergence(logits, label), or train.loss = \"kl_divergence\""},
    {"mse mseloss ", "write nn.mean_squared_error(prediction, label), or train.loss = \"mean_squared_error\""},
    {"mae l1loss ", "write nn.mean_absolute_error(prediction, label), or train.loss = \"mean_absolute_error\""},
    {"rmse ", "write nn.root_mean_squared_error(prediction, label), or train.metrics = [\"root_mean_squared_error\"]"},
    {"huberloss smoothl1loss ", "write nn.huber(prediction, label), or train.loss = \"huber\""},
    {"acc accuracyscore categoricalaccuracy sparsecategoricalaccuracy ",
     "write nn.accuracy(logits, label), or train.metrics = [\"accuracy\"]"},
    {"f1score fscore fmeasure f1macro ", "write nn.f1(logits, label), or train.metrics = [\"f1\"]"},
    {"aucroc rocauc rocaucscore auroc ", "write nn.auc(logits, label), or train.metrics = [\"auc\"]"},
    {"recallscore sensitivity ", "write nn.recall(logits, label), or train.metrics = [\"recall\"]"},
    {"precisionscore ", "write nn.precision(logits, label), or train.metrics = [\"precision\"]"},
    {"r2score ", "write nn.r2(prediction, label), or train.metrics = [\"r2\"]"},
    {"true ", "write true, in small letters"},
    {"false ", "write false, in small letters"},
    {"none null nil ", "leave the argument out"},
    {"xavier xavieruniform glorot ", "write \"glorot_uniform\""},
    {"xaviernormal ", "write \"glorot_normal\""},
    {"he kaiming kaimingnormal msra ", "write \"he_normal\""},
    {"kaiminguniform heuniform ", "write \"he_uniform\""},
    {"lecun lecunnormal ", "write \"lecun_normal\""},
    {"gaussian randomnormal ", "write \"normal\""},
    {"lambda ", "a definition in [model.graph] names an expression"},
    {"label labels target targets ytrue ", "data.inputs gives the label another name, or data.label (csv) or data.train_labels (idx, npy) does not say where it is"},
    {"xtrain inputs ", "write image, the features of the files, or features, those of [data.columns]"},
};

constexpr Foreign keys[] = {
    {"learning_rate lr eta0 ", "write train.optimizer.lr"},
    {"epochs num_epochs n_epochs max_epoch nb_epoch ", "write train.max_epochs"},
    {"max_iter num_steps n_iter num_iterations ", "write train.max_steps"},
    {"batch_size per_device_batch_size ", "write data.batch"},
    {"validation_split val_split validation_fraction test_size ", "write data.valid = { split = 0.2 }"},
    {"validation_data val_data ", "write data.valid = { files = [...] }"},
    {"device gpu gpus cuda accelerator ", "leave it out: a program built with CUDA uses all GPUs of its machine; run.gpus = 1 takes fewer"},
    {"num_workers n_jobs workers ", "write run.threads; processes are started with --local worker=2"},
    {"random_state random_seed manual_seed ", "write run.seed"},
    {"log_dir logdir output_dir save_dir ", "write run.directory"},
    {"callbacks ", "write early_stop, plateau, schedule or checkpoint in [train]"},
    {"early_stopping ", "write train.early_stop"},
    {"scheduler lr_scheduler lr_schedule ", "write train.schedule"},
    {"grad_clip clipnorm clip_norm max_grad_norm gradient_clip_val ", "write train.clip = { global_norm = 1.0 }"},
    {"lr_mult lr_multiplier layer_decay param_groups parameter_groups ", "write train.factors.lr = { NAME = 0.1 }"},
    {"decay_mult no_decay exclude_from_weight_decay ", "write train.factors.weight_decay = { \"*_bias\" = 0 }"},
    {"loss_scaling grad_scaler gradscaler grad_scale scale_loss dynamic_loss_scale ", "write train.loss_scale = \"dynamic\""},
    {"mixed_precision amp precision autocast fp16 half_precision ", "write cast(x, 'half') before the layers and cast(x, 'float') behind them, and train.loss_scale = \"dynamic\""},
    {"gradient_accumulation_steps accumulate_grad_batches ", "write train.micro_batches"},
    {"detect_anomaly set_detect_anomaly check_numerics enable_check_numerics debug_nans ", "write train.check_finite = true"},
    {"criterion loss_fn loss_function ", "write train.loss"},
    {"sep ", "write data.delimiter"},
    {"target label_column target_column ", "write data.label"},
    {"dataset train_file train_files csv_file ", "write data.train"},
    {"num_layers n_layers ", "write each layer into the list model.layers"},
    {"hidden_layer_sizes ", "write a layer { type = \"dense\", units = 100 } for each into model.layers"},
    {"num_classes n_classes ", "write units in the last layer"},
    {"hidden_size hidden_dim out_features output_dim output_size num_units embedding_dim ", "write units, in a layer"},
    {"in_features in_channels input_dim input_size input_shape ", "leave it out: a layer takes it from its input"},
    {"out_channels ", "write filters"},
    {"kernel_size filter_size ", "write kernel"},
    {"stride ", "write strides"},
    {"dilation dilation_rate ", "write dilations"},
    {"num_groups ", "write groups"},
    {"scale_factor ", "write size"},
    {"pool_size ", "write window"},
    {"num_heads n_heads ", "write heads"},
    {"num_embeddings vocab_size ", "write rows"},
    {"use_bias ", "write bias"},
    {"from_logits ", "leave it out: the losses of classes take what the last layer yields, logits"},
    {"reduction ", "leave it out: a loss is the mean over the samples; nn.huber(output, label, reduction='sum') returns their sum"},
    {"kernel_initializer ", "write init"},
    {"return_sequences ", "write sequences"},
    {"dropout dropout_rate ", "write a layer of its own, { type = \"dropout\", rate = 0.5 }"},
    {"p ", "write rate"},
    {"momentum ", "write type = \"momentum\", which has it"},
    {"betas ", "write beta1 and beta2"},
    {"eps ", "write epsilon"},
};

constexpr Foreign subcommands[] = {
    {"fit learn ", "write `troupe train FILE`"},
    {"evaluate test score validate ", "write `troupe eval RUN`; `troupe check FILE` looks at a run file"},
    {"infer inference classify ", "write `troupe predict RUN FILE`"},
    {"tune search ", "write `troupe sweep FILE --try KEY=VALUES`"},
    {"plot draw visualize ", "write `troupe graph FILE -o model.svg` or `troupe report RUN`"},
    {"profile timeline ", "write `troupe trace FILE`"},
    {"new create ", "write `troupe init TABLE.csv`"},
    {"convert save ", "write `troupe export RUN TO` or `troupe ckpt convert FROM -o TO`"},
};

/// What stands at the place of an error, or around it if the operator has two characters.
struct Sign {
  std::string_view text, advice;
};
constexpr Sign signs[] = {
    {"**", "write pow(x, y) or square(x)"},
    {"//", "write floor_div(x, y)"},
    {"@", "write matmul(a, b)"},
    {"%", "write floor_mod(x, y)"},
    {"[", "write slice(x, begin, size) or gather(x, indices)"},
    {",", "a list is written in square brackets, [8, 8]"},
    {"if ", "there is no if: compute both, and multiply by cast(condition, 'float')"},
    {"and ", "write logical_and(a, b)"},
    {"or ", "write logical_or(a, b)"},
    {"|", "write logical_or(a, b)"},
    {"&", "write logical_and(a, b)"},
    {"+", "leave the sign out"},
    {"{", "a list is written in square brackets"},
    {";", "each name has an expression of its own in [model.graph]"},
};
// clang-format on

std::string advised(std::string_view advice) {
  return advice.empty() ? std::string() : "; " + std::string(advice);
}

std::string_view find(std::span<const Foreign> table, const std::string& name) {
  for (const Foreign& row : table)
    for (size_t begin = 0; begin < row.names.size();) {
      const size_t end = row.names.find(' ', begin);
      if (row.names.substr(begin, end - begin) == name) return row.advice;
      begin = end + 1;
    }
  return {};
}

std::string in_small_letters(std::string_view name) {
  std::string small;
  for (const char c : name) small += static_cast<char>(std::tolower(static_cast<uint8_t>(c)));
  return small;
}

std::string_view trim(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(" \t\r"), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(" \t\r") + 1);
}

/// Advises on a bracket that is not closed, if there is one.
std::string open_bracket(std::string_view expression) {
  std::vector<size_t> open;
  for (size_t i = 0; i < expression.size(); ++i) {
    if (expression[i] == '(' || expression[i] == '[') open.push_back(i);
    if ((expression[i] == ')' || expression[i] == ']') && !open.empty()) open.pop_back();
  }
  if (open.empty()) return {};
  if (open.back() == 0) return "; its first bracket is not closed";
  return "; the '" + std::string(1, expression[open.back()]) + "' behind '" +
         std::string(expression.substr(0, open.back())) + "' is not closed";
}

}  // namespace

std::string plain(std::string_view name) {
  std::string text = in_small_letters(name.substr(name.rfind('.') + 1));
  std::erase(text, '_');
  return text;
}

std::string advice_on_function(std::string_view name, const std::vector<std::string>& known) {
  const std::string same = plain(name);
  if (const auto advice = find(functions, same); !advice.empty()) return advised(advice);
  for (const std::string& function : known)
    if (plain(function) == same)
      return "; write " + function + (function.find('.') == std::string::npos ? "(...)" : "(x, ...)");
  return {};
}

std::string advice_on_refusal(std::string_view function, std::string_view text) {
  const bool has_classes = function == "softmax_cross_entropy_with_logits" &&
                           text.find("input labels is int") != std::string_view::npos;
  if (has_classes)
    return advised("for labels that are numbers of classes, write sparse_" + std::string(function) +
                   "(logits, label)");
  if (function == "sparse_softmax_cross_entropy_with_logits" &&
      text.find("labels is float") != std::string_view::npos)
    return "; this loss takes numbers of classes; for labels that are measures, write mean(square(x - y))";
  if (text.find("attribute T is bool;") != std::string_view::npos)
    return "; cast(x, 'float') makes 1 and 0 of truth values, as in mean(cast(equal(a, b), 'float'))";
  return text.find("(attribute ") != std::string_view::npos
             ? "; these inputs must have the same type, and cast(x, 'float') converts one"
             : "";
}

std::string advice_on_choice(std::string_view value, const std::vector<std::string_view>& choices) {
  const std::string same = plain(value);
  for (const auto choice : choices)
    if (plain(choice) == same) return "; write \"" + std::string(choice) + '"';
  const auto advice = find(functions, same);
  for (const auto choice : choices)
    if (advice.find("nn." + std::string(choice) + '(') != std::string_view::npos)
      return "; write \"" + std::string(choice) + '"';
  return advised(advice);
}

std::string advice_on_key(std::string_view key, const std::vector<std::string_view>& paths) {
  std::string name = in_small_letters(key);
  std::ranges::replace(name, '-', '_');
  if (const auto advice = find(keys, name); !advice.empty()) return advised(advice);
  // Keys whose table is no key belong to one type of it.
  std::string_view best;
  for (const auto path : paths) {
    const size_t dot = path.rfind('.');
    if (dot == std::string_view::npos || path.substr(dot + 1) != name ||
        path.find('*') != std::string_view::npos)
      continue;
    if (std::ranges::find(paths, path.substr(0, dot)) == paths.end()) continue;
    if (best.empty() || path.size() < best.size()) best = path;
  }
  return best.empty() ? std::string() : "; write " + std::string(best);
}

std::string advice_on_subcommand(std::string_view name) {
  return advised(find(subcommands, in_small_letters(name)));
}

std::string advice_on_syntax(std::string_view expression, size_t offset) {
  const auto is_quote = [](char c) { return c == '\'' || c == '"'; };
  const auto is_letter = [](char c) { return c == '_' || std::isalnum(static_cast<uint8_t>(c)) != 0; };
  if (offset >= expression.size())
    return std::ranges::count_if(expression, is_quote) % 2 == 0 ? open_bracket(expression) : "";
  for (const auto& [text, advice] : signs) {
    const size_t from = text.size() == 2 && text[0] == text[1] && offset > 0 ? offset - 1 : offset;
    if (expression.substr(from).starts_with(text)) return advised(advice);
  }
  if (offset > 0 && std::isdigit(static_cast<uint8_t>(expression[offset - 1])) &&
      std::isalpha(static_cast<uint8_t>(expression[offset])))
    return "; a number has no letter at its end";
  if (expression.starts_with("not ")) return "; write logical_not(x)";
  if (expression[offset] == '.') {
    std::string_view method = expression.substr(offset + 1);
    method = method.substr(0, std::ranges::find_if_not(method, is_letter) - method.begin());
    if (!method.empty() && std::isalpha(static_cast<uint8_t>(method[0])))
      return "; a value has no methods: write " + std::string(method) + "(x)";
  }
  const std::string_view before = expression.substr(0, offset);
  const bool is_extra =
      expression[offset] == ')' && std::ranges::count(before, '(') == std::ranges::count(before, ')');
  return is_extra ? "; this bracket closes nothing" : "";
}

std::string advice_on_line(std::string_view line) {
  const size_t equals = line.find('=');
  const std::string_view whole = trim(line);
  if (equals == std::string_view::npos && whole.starts_with('{'))
    return "; the file seems to be JSON, but run files are TOML: [data], and below it format = \"csv\"";
  if (whole.ends_with('{')) return "; what is in braces must stand on one line, or below a line [TABLE]";
  if (line.find("//") != std::string_view::npos) return "; a comment begins with #";
  if (line.find('\\') != std::string_view::npos)
    return "; a text with backslashes is written in single quotes, 'C:\\data'";
  if (equals == std::string_view::npos)
    return line.find(':') == std::string_view::npos ? "; a line is KEY = VALUE or [TABLE]"
                                                    : "; write '=' instead of ':'";
  const std::string_view value = trim(line.substr(equals + 1));
  if (value.starts_with("True")) return "; write true, in small letters";
  if (value.starts_with("False")) return "; write false, in small letters";
  if (value.starts_with("None") || value.starts_with("null")) return "; leave the key out";
  return !value.empty() && std::isalpha(static_cast<uint8_t>(value[0])) ? "; a text is written in quotes"
                                                                        : "";
}

}  // namespace troupe::config
